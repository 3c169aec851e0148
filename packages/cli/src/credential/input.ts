// What a client sends to a credential program on standard input.

const MAX_INPUT_CHARS = 65_536;
const INPUT_TIMEOUT_MS = 30_000;

/** Everything that the client sends. Throws an Error when it takes too long or is longer than 65,536 characters. */
export async function readInput(stream: NodeJS.ReadStream = process.stdin): Promise<string> {
  const timer = setTimeout(() => stream.destroy(new Error("the input did not arrive in time")), INPUT_TIMEOUT_MS);
  let text = "";
  try {
    for await (const chunk of stream.setEncoding("utf8") as AsyncIterable<string>) {
      text += chunk;
      if (text.length > MAX_INPUT_CHARS) throw new Error("the input is too long");
    }
  } finally {
    clearTimeout(timer);
  }
  return text;
}
