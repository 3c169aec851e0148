/** Where a version comes from. */
export const ORIGIN = { published: 1, upstream: 2 } as const;
