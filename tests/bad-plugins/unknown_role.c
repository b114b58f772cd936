/* SPDX-License-Identifier: Apache-2.0 */
#define SPECIMEN_ROLE "dpframe.oracle/1"
#include "specimen.h"
