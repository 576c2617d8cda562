/** The version of Longhaul, as its package says. */
export const longhaulVersion = '0.1.0';
