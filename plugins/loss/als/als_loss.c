/* SPDX-License-Identifier: Apache-2.0 */
#include "als_loss.h"

#include "simd.h"

void als_loss_start(struct als_loss *loss, const dpf_host *host)
{
    loss->model = (struct als_model){.host = host, .kernels = als_kernels_find(SIMD_KIND_AUTO), .loss = loss};
}

void als_loss_destroy(void *instance)
{
    struct als_loss *loss = instance;
    const dpf_host *host = loss->model.host;
    als_ridge_free(host, &loss->ridge[0]);
    als_ridge_free(host, &loss->ridge[1]);
}

dpf_status als_loss_query(struct als_loss *loss, const dpf_side_info *info, int with_count, dpf_query *out)
{
    const dpf_status status = als_query(loss->model.host, info, with_count, out);
    return status != DPF_OK ? status
                            : als_ridge_new(loss->model.host, &loss->ridge[info->side], info->dimension);
}

dpf_status als_loss_check(const struct als_loss *loss, const dpf_groups *groups)
{
    if (groups->offset == 0 || !loss->needs_no_offset)
        return DPF_OK;
    return loss->model.host->fail(loss->model.host, DPF_E_UNSUPPORTED, -1, loss->needs_no_offset);
}

dpf_status als_loss_accumulate(void *instance, const dpf_call *call, const dpf_query *query,
                               const dpf_groups *groups, const double *grid, double *out, int64_t stride)
{
    const struct als_loss *loss = instance;
    const dpf_status status = als_loss_check(loss, groups);
    return status != DPF_OK ? status : als_accumulate(&loss->model, call, query, groups, grid, out, stride);
}

dpf_status als_loss_accumulate_scaled(void *instance, const dpf_call *call, const dpf_query *query,
                                      const dpf_groups *groups, const double *factors, const double *grid,
                                      int64_t *out, int64_t stride)
{
    const struct als_loss *loss = instance;
    const dpf_status status = als_loss_check(loss, groups);
    return status != DPF_OK
               ? status
               : als_accumulate_scaled(&loss->model, call, query, groups, factors, grid, out, stride);
}

dpf_status als_loss_accumulate_local(void *instance, const dpf_call *call, const dpf_query *query,
                                     const dpf_groups *groups, float *out, int64_t stride)
{
    const struct als_loss *loss = instance;
    const dpf_status status = als_loss_check(loss, groups);
    return status != DPF_OK ? status : als_accumulate_local(&loss->model, call, query, groups, out, stride);
}

dpf_status als_loss_apply(void *instance, const dpf_call *call, const dpf_query *query,
                          const dpf_groups *groups, const float *x, int64_t x_stride, float *out,
                          int64_t out_stride)
{
    const struct als_loss *loss = instance;
    return als_apply(&loss->model, call, query, groups, x, x_stride, out, out_stride);
}
