// Work that is done once for each name, however often it is asked for.

/** The function, which remembers what it answered for each name, and what it threw. */
export function once<T>(work: (name: string) => Promise<T>): (name: string) => Promise<T> {
  const known = new Map<string, Promise<T>>();
  return (name) => {
    const found = known.get(name) ?? work(name);
    known.set(name, found);
    return found;
  };
}
