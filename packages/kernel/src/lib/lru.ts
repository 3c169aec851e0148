/** A map of limited size: the least recently used entries are removed first. */
export interface Lru<K, V> {
  /** The value of the key. Counts as a use. */
  get(key: K): V | undefined;
  set(key: K, value: V): void;
  delete(key: K): void;
  clear(): void;
  readonly size: number;
}

/**
 * Makes a map of at most `maxWeight`. Each entry weighs 1, or what `weightOf` returns, such as its size in bytes. A
 * value that alone weighs more than `maxWeight` is not stored.
 */
export function createLru<K, V>(maxWeight: number, weightOf: (value: V) => number = () => 1): Lru<K, V> {
  // A Map iterates in insertion order: a used entry is moved to the end, and the first entry is removed first.
  const entries = new Map<K, V>();
  let weight = 0;
  // The key at the end. A map that is asked for one key again and again need not move it each time.
  let newest: K | undefined;
  const drop = (key: K): void => {
    const value = entries.get(key);
    if (value === undefined) return;
    entries.delete(key);
    weight -= weightOf(value);
  };
  return {
    get(key) {
      const value = entries.get(key);
      if (value === undefined || key === newest) return value;
      entries.delete(key);
      entries.set(key, value);
      newest = key;
      return value;
    },
    set(key, value) {
      drop(key);
      const added = weightOf(value);
      if (added > maxWeight) return;
      entries.set(key, value);
      newest = key;
      weight += added;
      for (const oldest of entries.keys()) {
        if (weight <= maxWeight) break;
        drop(oldest);
      }
    },
    delete: drop,
    clear() {
      entries.clear();
      newest = undefined;
      weight = 0;
    },
    get size() {
      return entries.size;
    },
  };
}
