/**
 * Removes what is older than a retention: one kind after another, in as many transactions as `remove` needs, which
 * answers how many rows one of them removed and whether there may be more. Returns how many rows of which kind.
 * `signal` stops it between two transactions.
 */
export async function removeExpired<K extends string>(
  kinds: readonly K[],
  remove: (kind: K) => Promise<{ removed: number; more: boolean }>,
  signal: AbortSignal,
): Promise<Record<K, number>> {
  const counts = Object.fromEntries(kinds.map((kind) => [kind, 0])) as Record<K, number>;
  for (const kind of kinds) {
    for (let isMore = true; isMore;) {
      signal.throwIfAborted();
      const { removed, more } = await remove(kind);
      counts[kind] += removed;
      isMore = more;
    }
  }
  return counts;
}
