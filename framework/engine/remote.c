/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/remote.h"

int remote_side(const struct plan *plan)
{
    (void)plan; /* federation_refusal lets no other through */
    return DPF_SIDE_ITEMS;
}
