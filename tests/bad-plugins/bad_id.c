/* SPDX-License-Identifier: Apache-2.0 */
#define SPECIMEN_ID "Bad_Id"
#include "specimen.h"
