/** An answer's JSON in the shape that it has where it is asked for; what the test then looks at shows that it does. */
export function jsonOf<T>({ text }: { text: string }): T {
  return JSON.parse(text) as T;
}
