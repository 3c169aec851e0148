// What commands read from files and from standard input.
import { readFileSync } from "node:fs";
import type { Json, JsonObject } from "../api/rest.ts";
import { Failure, UsageFailure } from "../command/failure.ts";

const MAX_BYTES = 16 << 20;

let input: Promise<string> | undefined;

/** All of standard input, without a newline at its end. Throws a UsageFailure when two flags ask for it. */
export function standardInput(): Promise<string> {
  if (input !== undefined) throw new UsageFailure("standard input (-) can be read for one value only");
  input = readAll();
  return input;
}

async function readAll(): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_BYTES) throw new Failure(`standard input has more than ${MAX_BYTES >> 20} MiB`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks)
    .toString("utf8")
    .replace(/\r?\n$/, "");
}

/** The text of a file, of standard input for `-`. Throws a UsageFailure for a file that cannot be read. */
export async function textOf(file: string): Promise<string> {
  if (file === "-") return standardInput();
  try {
    return readFileSync(file, "utf8");
  } catch (cause) {
    throw new UsageFailure(`cannot read ${file}: ${(cause as Error).message}`, { field: "--file", cause });
  }
}

/** The one resource in a file of YAML or JSON. Throws a UsageFailure that says where it is wrong. */
export async function resourceIn(file: string): Promise<JsonObject> {
  const text = await textOf(file);
  const { parseAllDocuments } = await import("yaml");
  const documents = parseAllDocuments(text);
  const [first] = "empty" in documents ? [] : documents;
  const name = file === "-" ? "standard input" : file;
  const wrong = (what: string): UsageFailure => new UsageFailure(`${name} ${what}`, { field: "--file" });
  if (first === undefined) throw wrong("is empty");
  if (documents.length > 1) throw wrong("has several documents: this command takes one");
  const [error] = first.errors;
  if (error !== undefined) throw wrong(`is neither YAML nor JSON: ${error.message.split("\n")[0] ?? ""}`);
  // Whatever YAML gives is printed as JSON anyway: dates and other types of its own become text.
  const value = JSON.parse(JSON.stringify(first.toJS())) as Json;
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw wrong("must be an object");
  return value;
}
