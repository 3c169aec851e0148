import { request } from "node:http";
import { gunzipSync } from "node:zlib";

/** A registry, and the path below which it serves what is asked for. */
export interface Place {
  name: string;
  port: number;
  base: string;
  /** The value of the header that authenticates. */
  authorization: string;
}

/** A request. Without `anonymous` it has the place's credentials. The path is sent as it is written. */
export interface Question {
  method?: string;
  headers?: Record<string, string>;
  json?: unknown;
  body?: { type: string; content: Uint8Array };
  anonymous?: boolean;
}

export interface Answer {
  status: number;
  headers: Record<string, string>;
  body: Buffer;
}

/** One request, and what must be said of its answer: in words that are good for every registry. */
export interface Case {
  title: string;
  ask(place: Place): Promise<string>;
  /** Why Moorage answers something else than the peer; left out where they answer the same. */
  because?: string;
}

const TIMEOUT_MS = 30_000;

/** Sends a request to the path below the place's own, or to a URL that it gave out. */
export function ask(place: Place, path: string, question: Question = {}): Promise<Answer> {
  const { method = "GET", headers = {}, json, anonymous = false } = question;
  const body =
    json === undefined ? question.body : { type: "application/json", content: Buffer.from(JSON.stringify(json)) };
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const sent = request(
    {
      host: "127.0.0.1",
      port: place.port,
      path: path.startsWith("http") ? new URL(path).pathname : place.base + path,
      method,
      timeout: TIMEOUT_MS,
      headers: {
        ...headers,
        ...(!anonymous && { authorization: place.authorization }),
        ...(body && { "content-type": body.type, "content-length": body.content.length }),
      },
    },
    (received) => {
      const chunks: Buffer[] = [];
      received.on("data", (chunk: Buffer) => chunks.push(chunk));
      received.on("error", reject);
      received.on("end", () => {
        const whole = Buffer.concat(chunks);
        const found = Object.fromEntries(
          Object.entries(received.headers).map(([name, value]) => [name, String(value)]),
        );
        const isGzip = found["content-encoding"] === "gzip" && whole.length > 0;
        resolve({ status: received.statusCode ?? 0, headers: found, body: isGzip ? gunzipSync(whole) : whole });
      });
    },
  );
  sent.on("timeout", () => sent.destroy(new Error(`${place.name}: ${method} ${path} was not answered in time`)));
  sent.on("error", reject);
  sent.end(body?.content);
  return promise;
}

/** The JSON of an answer; an empty object for anything else. */
export function jsonOf<T = Record<string, unknown>>({ body }: Answer): Partial<T> {
  try {
    const value: unknown = JSON.parse(body.toString());
    return typeof value === "object" && value !== null ? (value as Partial<T>) : {};
  } catch {
    return {};
  }
}

/** The media type of an answer, without its parameters. */
export function typeOf({ headers }: Answer): string {
  return (headers["content-type"] ?? "none").split(";", 1)[0] ?? "";
}

/** The answer to the same request with the ETag of the first one. */
export async function again(place: Place, path: string, first: Answer, question: Question = {}): Promise<string> {
  const { etag } = first.headers;
  if (etag === undefined) return "no ETag";
  const second = await ask(place, path, { ...question, headers: { ...question.headers, "if-none-match": etag } });
  return `${etag.startsWith("W/") ? "a weak" : "an"} ETag, with it ${second.status}`;
}

/** What every request of a list is answered, in its order. */
export async function each<T>(values: readonly T[], work: (value: T) => Promise<string>): Promise<string> {
  const said: string[] = [];
  for (const value of values) said.push(await work(value));
  return said.join(", ");
}
