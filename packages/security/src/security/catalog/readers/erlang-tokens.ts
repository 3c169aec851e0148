/** A bracket of a tuple, list or map, a text between double quotes, or anything else that is written without blanks. */
export interface ErlangToken {
  kind: "open" | "close" | "text" | "word";
  /** Of a text and an atom what is between the quotes, with escapes as they are written. */
  value: string;
}

// Blanks and commas, a comment, a bracket, a quoted text or atom, or a run of other characters.
const TOKEN =
  /[\s,|]+|%[^\n]*|([{[(])|([}\])])|"((?:[^"\\]|\\[\s\S])*)"|'((?:[^'\\]|\\[\s\S])*)'|([^\s,|%{}[\]()"']+)/y;

/** The tokens of Erlang terms, in time linear in the text. Throws for more than `max`, and for what is none. */
export function* erlangTokens(text: string, max: number): Generator<ErlangToken> {
  const pattern = new RegExp(TOKEN);
  for (let count = 0; pattern.lastIndex < text.length; count += 1) {
    const found = pattern.exec(text);
    if (found === null) throw new Error("it is no Erlang term");
    if (count >= max) throw new Error(`it has more than ${max} tokens`);
    const [, open, close, quoted, atom, word] = found;
    if (open !== undefined) yield { kind: "open", value: open };
    else if (close !== undefined) yield { kind: "close", value: close };
    else if (quoted !== undefined) yield { kind: "text", value: quoted };
    else if (atom !== undefined || word !== undefined) yield { kind: "word", value: atom ?? word ?? "" };
  }
}
