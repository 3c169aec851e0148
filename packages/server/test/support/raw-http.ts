import { connect } from "node:net";

/** An answer that was read from a connection byte by byte. Header names are in lower case. */
export interface RawAnswer {
  status: number;
  headers: Record<string, string>;
  body: string;
  /** All of it, as it came. */
  text: string;
}

const TIMEOUT_MS = 60_000;

/**
 * Sends a request whose lines are exactly these, which clients of Node would not send, on a connection of its own, and
 * reads the answer until the server closes that.
 */
export async function sendRaw(port: number, lines: readonly string[], body = ""): Promise<RawAnswer> {
  const socket = connect(port, "127.0.0.1").setTimeout(TIMEOUT_MS, () => socket.destroy(new Error("no answer")));
  socket.write(Buffer.from([...lines, "connection: close", "", body].join("\r\n"), "latin1"));
  const chunks: Buffer[] = [];
  for await (const chunk of socket) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString("latin1");
  const cut = text.indexOf("\r\n\r\n");
  const [first = "", ...fields] = text.slice(0, cut).split("\r\n");
  const headers = Object.fromEntries(
    fields.map((field) => [field.slice(0, field.indexOf(":")).toLowerCase(), field.slice(field.indexOf(":") + 2)]),
  );
  return { status: Number(first.split(" ")[1]), headers, body: text.slice(cut + 4), text };
}
