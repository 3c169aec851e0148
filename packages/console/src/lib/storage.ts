/** What this browser remembers under a name of the console; undefined without a value, or where storage is blocked. */
export function readStored(name: string): string | undefined {
  try {
    return localStorage.getItem(`moorage.${name}`) ?? undefined;
  } catch {
    return undefined;
  }
}

/** Remembers a value, or forgets it. Where storage is blocked it holds until the page is loaded again. */
export function store(name: string, value: string | undefined): void {
  try {
    if (value === undefined) localStorage.removeItem(`moorage.${name}`);
    else localStorage.setItem(`moorage.${name}`, value);
  } catch {
    // Nothing is lost that cannot be chosen again.
  }
}
