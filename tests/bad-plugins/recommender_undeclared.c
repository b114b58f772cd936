/* SPDX-License-Identifier: Apache-2.0 */
/* Publishes counts and says nothing about it. */
#define RELEASES 0
#include "specimen_recommender.h"
