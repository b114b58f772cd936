/* SPDX-License-Identifier: Apache-2.0 */
/*
 * x25519_ladder.h - the Montgomery ladder of RFC 7748, section 5, over the numbers of one kind of processor. No
 * include guard: x25519_ifma.h and x25519_fma.h include it, each with
 *
 *     X(name)         the name with the kind's ending
 *     X25519_TARGET   attribute of functions, X25519_INLINE the same for those in line
 *     X25519_WIDTH    lanes
 *     X25519_NUMBER       a number modulo p = 2^255 - 19 in each lane
 *     X(load) and X(store), X(small), X(swap), X(add), X(subtract), X(add_loose), X(subtract_loose), X(multiply),
 *     X(square), X(add_121666)
 *
 * A number is tight or loose, as the kind defines it. Sums and differences of tight numbers are loose where their
 * name says so; of two factors one is tight, what is squared is tight, and products are tight.
 *
 * The ladder does the same for every bit of the secret: no branch and no address depends on a secret or on a public
 * key. Which of the points is swapped is a mask.
 */
static X25519_TARGET __attribute__((noinline)) void X(square_times)(X25519_NUMBER *x, int n)
{
    X25519_NUMBER y = *x;
    for (int i = 0; i < n; i++)
        y = X(square)(y);
    *x = y;
}

/* x^(p - 2), which is 1 / x, and 0 for 0. */
static X25519_TARGET __attribute__((noinline)) void X(invert)(X25519_NUMBER *x)
{
    X25519_NUMBER t0 = *x, t1, t2, t3;
    X(square_times)(&t0, 1); /* x^2 */
    t1 = t0;
    X(square_times)(&t1, 2);  /* x^8 */
    t1 = X(multiply)(*x, t1); /* x^9 */
    t0 = X(multiply)(t0, t1); /* x^11 */
    t2 = t0;
    X(square_times)(&t2, 1);
    t1 = X(multiply)(t1, t2); /* x^(2^5 - 1) */
    t2 = t1;
    X(square_times)(&t2, 5);
    t1 = X(multiply)(t2, t1); /* x^(2^10 - 1) */
    t2 = t1;
    X(square_times)(&t2, 10);
    t2 = X(multiply)(t2, t1); /* x^(2^20 - 1) */
    t3 = t2;
    X(square_times)(&t3, 20);
    t2 = X(multiply)(t3, t2); /* x^(2^40 - 1) */
    X(square_times)(&t2, 10);
    t1 = X(multiply)(t2, t1); /* x^(2^50 - 1) */
    t2 = t1;
    X(square_times)(&t2, 50);
    t2 = X(multiply)(t2, t1); /* x^(2^100 - 1) */
    t3 = t2;
    X(square_times)(&t3, 100);
    t2 = X(multiply)(t3, t2); /* x^(2^200 - 1) */
    X(square_times)(&t2, 50);
    t1 = X(multiply)(t2, t1); /* x^(2^250 - 1) */
    X(square_times)(&t1, 5);
    *x = X(multiply)(t1, t0); /* x^(2^255 - 21) */
}

/* One bit of the ladder: (x2 : z2) is doubled, (x3 : z3) becomes the sum of both. All are tight. */
X25519_INLINE void X(step)(X25519_NUMBER x1, X25519_NUMBER *x2, X25519_NUMBER *z2, X25519_NUMBER *x3,
                           X25519_NUMBER *z3)
{
    const X25519_NUMBER a = X(add)(*x2, *z2), b = X(subtract)(*x2, *z2);
    const X25519_NUMBER c = X(add_loose)(*x3, *z3), d = X(subtract_loose)(*x3, *z3);
    const X25519_NUMBER da = X(multiply)(d, a), cb = X(multiply)(c, b);
    const X25519_NUMBER aa = X(square)(a), bb = X(square)(b);
    const X25519_NUMBER e = X(subtract)(aa, bb);
    *x3 = X(square)(X(add)(da, cb));
    *z3 = X(multiply)(x1, X(square)(X(subtract)(da, cb)));
    *x2 = X(multiply)(aa, bb);
    *z2 = X(multiply)(e, X(add_121666)(bb, e));
}

/* out[l]: the shared secret of secrets[l] and keys[l]; all zero if keys[l] is a point of small order. */
static X25519_TARGET __attribute__((noinline)) void X(lanes)(const uint8_t *const secrets[X25519_WIDTH],
                                                             const uint8_t *const keys[X25519_WIDTH],
                                                             uint8_t out[X25519_WIDTH][32])
{
    uint64_t limbs[5][X25519_WIDTH], swaps[4][X25519_WIDTH], one[5];
    for (int l = 0; l < X25519_WIDTH; l++) {
        x25519_limbs(keys[l], one);
        for (int i = 0; i < 5; i++)
            limbs[i][l] = one[i];
        x25519_swaps(secrets[l], one);
        for (int i = 0; i < 4; i++)
            swaps[i][l] = one[i];
    }
    const X25519_NUMBER x1 = X(load)(limbs);
    X25519_NUMBER x2 = X(small)(1), z2 = X(small)(0), x3 = x1, z3 = x2;
    for (int bit = 254; bit >= 0; bit--) { /* the last bits are clear, so nothing stays swapped */
        X(swap)(swaps[bit / 64], bit % 64, &x2, &x3);
        X(swap)(swaps[bit / 64], bit % 64, &z2, &z3);
        X(step)(x1, &x2, &z2, &x3, &z3);
    }
    X(invert)(&z2);
    X(store)(X(multiply)(x2, z2), limbs);
    for (int l = 0; l < X25519_WIDTH; l++) {
        for (int i = 0; i < 5; i++)
            one[i] = limbs[i][l];
        x25519_bytes(one, out[l]);
    }
}

#undef X
#undef X25519_TARGET
#undef X25519_INLINE
#undef X25519_WIDTH
#undef X25519_NUMBER
