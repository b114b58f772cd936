/* SPDX-License-Identifier: Apache-2.0 */
/* dpframe.h - everything a plugin may include. */
#ifndef DPFRAME_H
#define DPFRAME_H

#include "abi.h"
#include "features.h"
#include "host.h"
#include "params.h"
#include "plugin.h"
#include "privacy.h"
#include "query.h"
#include "role/accountant.h"
#include "role/aggregator.h"
#include "role/loss.h"
#include "role/mechanism.h"
#include "role/recommender.h"
#include "role/sampler.h"
#include "role/solver.h"
#include "role/transform.h"
#include "view.h"

#endif
