/** The lines of a text, one at a time: a list of millions of them takes many times the memory of the text. */
export function* linesOf(text: string): Generator<string> {
  for (let at = 0; at <= text.length;) {
    const found = text.indexOf("\n", at);
    const end = found < 0 ? text.length : found;
    yield text.slice(at, end);
    at = end + 1;
  }
}
