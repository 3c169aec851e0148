// What `moorage api` sends, and how it prints what comes back.
import { once } from "node:events";
import { UsageFailure } from "../command/failure.ts";
import type { ServerFlags } from "../command/global-options.ts";
import type { Selector } from "../output/expressions.ts";
import { createWriter, type Writer } from "../output/writer.ts";
import { printData } from "../output/item-printer.ts";
import { jsonText } from "../output/json.ts";
import { escapeJson, printable, printableLines } from "../printable.ts";
import { textOf } from "../resources/files.ts";
import { ApiFailure, type Json, type JsonObject } from "../api/failure.ts";
import { openRest, type RestClient } from "../api/rest.ts";

/** The flags of `moorage api`. */
export interface RawFlags extends ServerFlags {
  query?: string[];
  file?: string;
  header?: string[];
  paginate?: boolean;
  include?: boolean;
  jq?: string;
}

/** Sends the request, or one for each page, and prints the responses. Throws an ApiFailure for an error's status. */
export async function sendRaw(verb: string, path: string, flags: RawFlags): Promise<void> {
  const headers = new Headers((flags.header ?? []).map(headerOf));
  const body = flags.file === undefined ? undefined : await textOf(flags.file);
  if (body !== undefined && !headers.has("content-type")) headers.set("content-type", "application/json");
  const query = (flags.query ?? []).map((text) => pairOf("--query", text, "="));
  const select = flags.jq === undefined ? undefined : await filterOf(flags.jq);
  const rest = await openRest(flags);
  const writer = createWriter();
  let pageToken: string | undefined;
  do {
    const url = withQuery(
      path,
      pageToken === undefined ? query : [...without(query, "page"), ["pageToken", pageToken]],
    );
    const response = await request(rest, url, { method: verb, headers, ...(body !== undefined && { body }) });
    const content = await print(response, flags, writer, select);
    if (!response.ok && response.status >= 400)
      throw new ApiFailure(response, content, `${rest.url}${url}`, rest.bearer());
    const next = flags.paginate === true ? content?.["nextPageToken"] : undefined;
    pageToken = typeof next === "string" && next !== "" ? next : undefined;
  } while (pageToken !== undefined);
}

/** Loads jq, and reads the filter. */
async function filterOf(text: string): Promise<Selector> {
  const { jqSelector } = await import("../output/expressions.ts");
  return await jqSelector(text);
}

function request(rest: RestClient, path: string, init: RequestInit): Promise<Response> {
  // Source: OCI distribution 1.1; everything below /v2/ is the registry's.
  return rest.fetch(path, { ...init, audience: /^\/v2(?:\/|$)/.test(path) ? "registry" : "platform" });
}

/** Prints a response. Returns its content if that is a JSON object. */
async function print(
  response: Response,
  { include }: RawFlags,
  writer: Writer,
  select: Selector | undefined,
): Promise<JsonObject | undefined> {
  if (include === true) {
    const lines = [...response.headers].map(([name, value]) => `${name}: ${printable(value)}\n`);
    await writer.write(`${response.status} ${printable(response.statusText)}\n${lines.join("")}\n`);
  }
  const isJson = /\bjson\b/.test(response.headers.get("content-type") ?? "");
  if (!isJson) {
    await writer.flush();
    for await (const chunk of writer.isTTY ? textsIn(response) : (response.body ?? []))
      if (!process.stdout.write(chunk)) await once(process.stdout, "drain");
    return undefined;
  }
  const text = await response.text();
  const value = parsed(text);
  const object = typeof value === "object" && value !== null && !Array.isArray(value) ? value : undefined;
  if (select !== undefined && object !== undefined && response.ok) await printData(writer, select(object));
  else if (value === undefined && text !== "") await printData(writer, `${text}\n`);
  else if (value !== undefined) await writer.write(`${writer.isTTY ? jsonText(value) : escapeJson(text)}\n`);
  await writer.flush();
  return object;
}

/** What a terminal is shown of a body that is no JSON. */
async function* textsIn({ body }: Response): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  for await (const chunk of body ?? []) yield printableLines(decoder.decode(chunk, { stream: true }));
  yield printableLines(decoder.decode());
}

function parsed(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

function withQuery(path: string, query: readonly [string, string][]): string {
  const text = new URLSearchParams(query.map(([name, value]) => [name, value])).toString();
  return text === "" ? path : `${path}${path.includes("?") ? "&" : "?"}${text}`;
}

function without(query: readonly [string, string][], word: string): [string, string][] {
  return query.filter(([name]) => name !== `${word}Token` && name !== `${word}_token` && name !== "skip");
}

function headerOf(text: string): [string, string] {
  const [name, value] = pairOf("--header", text, ":");
  // Source: RFC 9110, 5.6.2 and 5.5.
  if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name) || /[^\t\x20-\xff]/.test(value))
    throw new UsageFailure(`${text} is no header`, { field: "--header" });
  return [name, value];
}

function pairOf(flag: string, text: string, separator: string): [string, string] {
  const at = text.indexOf(separator);
  if (at <= 0) throw new UsageFailure(`must look like key${separator}value, not ${text}`, { field: flag });
  return [text.slice(0, at).trim(), separator === ":" ? text.slice(at + 1).trim() : text.slice(at + 1)];
}
