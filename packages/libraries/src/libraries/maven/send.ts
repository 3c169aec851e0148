import type { Row } from "@moorage/kernel/store";
import type { LibraryExchange } from "../requests/exchange.ts";
import type { Rendered } from "../requests/rendering.ts";
import { sendRendered, sumOfRendered } from "../requests/send-document.ts";
import { send } from "../requests/send.ts";
import type { Sum } from "./paths.ts";

const XML = "application/xml; charset=utf-8";
const TEXT = "text/plain; charset=utf-8";
const CACHING = { "cache-control": "private, no-cache", vary: "authorization" };

/** Answers with a document that was rendered, or one of its sums. */
export async function sendDocument(exchange: LibraryExchange, document: Rendered, sum: Sum | undefined): Promise<void> {
  if (sum !== undefined) return sendText(exchange, await sumOfRendered(document, sum));
  await sendRendered(exchange, document, { ...CACHING, "content-type": XML }, { isCompressed: false });
}

/** Answers with a sum. */
export function sendText(exchange: LibraryExchange, text: string): void {
  send(exchange, 200, { ...CACHING, "content-type": TEXT }, Buffer.from(text));
}

/** The sum of a stored file, in hex. */
export function sumOf(file: Row<"artifact_files">, sum: Sum): string {
  return sum === "sha256" ? file.digest.slice(file.digest.indexOf(":") + 1) : file[sum];
}
