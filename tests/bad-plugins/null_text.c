/* SPDX-License-Identifier: Apache-2.0 */
#define SPECIMEN_SUMMARY NULL
#include "specimen.h"
