/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dpframe.h - everything a plugin may include: the ABI, and functions for authors that are no part of it and come
 * from libdpframe-sdk.a (accounting.h, additive.h, additive_mechanism.h, integer_noise.h, joint.h, selection.h).
 */
#ifndef DPFRAME_H
#define DPFRAME_H

#include "abi.h"
#include "accounting.h"
#include "additive.h"
#include "additive_mechanism.h"
#include "features.h"
#include "host.h"
#include "integer_noise.h"
#include "joint.h"
#include "params.h"
#include "plugin.h"
#include "privacy.h"
#include "query.h"
#include "role/accountant.h"
#include "role/aggregator.h"
#include "role/comm.h"
#include "role/link.h"
#include "role/loss.h"
#include "role/mechanism.h"
#include "role/recommender.h"
#include "role/sampler.h"
#include "role/solver.h"
#include "role/transform.h"
#include "selection.h"
#include "utility.h"
#include "view.h"

#endif
