/* SPDX-License-Identifier: Apache-2.0 */
/* Breaks nothing: shows that what is found in the others is their fault. */
#include "specimen.h"
