/** A map that holds so much and no more: the entries used longest ago make room. */
export interface Lru<K, V> {
  /** The value, which counts as a use. */
  get(key: K): V | undefined;
  set(key: K, value: V): void;
  delete(key: K): void;
  clear(): void;
  readonly size: number;
}

/**
 * Holds at most `maxWeight`, where each entry weighs 1, or what `weightOf` says: its bytes, for values of any size.
 * What alone weighs more than all together may is not kept.
 */
export function createLru<K, V>(maxWeight: number, weightOf: (value: V) => number = () => 1): Lru<K, V> {
  // A Map iterates in the order of insertion: what is used is put at the end, what stands first goes first.
  const entries = new Map<K, V>();
  let weight = 0;
  const drop = (key: K): void => {
    const value = entries.get(key);
    if (value === undefined) return;
    entries.delete(key);
    weight -= weightOf(value);
  };
  return {
    get(key) {
      const value = entries.get(key);
      if (value === undefined) return undefined;
      entries.delete(key);
      entries.set(key, value);
      return value;
    },
    set(key, value) {
      drop(key);
      const added = weightOf(value);
      if (added > maxWeight) return;
      entries.set(key, value);
      weight += added;
      for (const oldest of entries.keys()) {
        if (weight <= maxWeight) break;
        drop(oldest);
      }
    },
    delete: drop,
    clear() {
      entries.clear();
      weight = 0;
    },
    get size() {
      return entries.size;
    },
  };
}
