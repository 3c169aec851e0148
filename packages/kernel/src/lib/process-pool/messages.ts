/** What a child is sent: first the data of its pool, then one task after another. */
export type ToChild = { data: unknown } | { id: number; task: string; input: unknown };

/** What a child sends: that it takes tasks, and the answer of each. */
export type FromChild =
  | { ready: true }
  | { id: number; output: unknown }
  | { id: number; message: string; isFinal: boolean };

/** What a child begins the line with by which it says that it ended itself because of its memory. */
export const OUT_OF_MEMORY = "moorage: out of memory";
