/** An answer's JSON as the type that the caller expects; the test's assertions show whether it is. */
export function jsonOf<T>({ text }: { text: string }): T {
  return JSON.parse(text) as T;
}
