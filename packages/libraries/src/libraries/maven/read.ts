import type { LibraryExchange } from "../requests/exchange.ts";
import { answerFile } from "../requests/file.ts";
import { sendFile } from "../requests/send.ts";
import { keptFacts } from "./facts.ts";
import { offeredFile } from "./fetch.ts";
import { isSnapshot, type MavenPath, nameOf } from "./paths.ts";
import { sendText, sumOf } from "./send.ts";

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  jar: "application/java-archive",
  pom: "application/xml",
  xml: "application/xml",
  module: "application/vnd.org.gradle.module+json",
  asc: "text/plain",
};

/**
 * GET and HEAD of a file, whole or a range of it, or of one of its sums. What an upstream has of it is fetched first.
 */
export async function sendContent(exchange: LibraryExchange, path: MavenPath & { kind: "file" }): Promise<void> {
  const { group, version, file, sum } = path;
  const name = nameOf(path);
  const missing = `Not found: ${file} of ${name}:${version}`;
  await answerFile(exchange, {
    // Snapshots come from the group alone.
    named: { group, name, normalized: name, missing, mayAsk: () => !isSnapshot(version) },
    file: `${version}/${file}`,
    missing,
    facts: (resolved, kept) => kept.version && keptFacts(exchange, resolved, path, kept.version),
    offer: (asked) => offeredFile(exchange, asked, path, missing),
    send(kept) {
      if (sum !== undefined) return sendText(exchange, sumOf(kept, sum));
      return sendFile(exchange, {
        file: kept,
        contentType: CONTENT_TYPES[file.slice(file.lastIndexOf(".") + 1)] ?? "application/octet-stream",
        // Resolvers that know these need not ask for the sums.
        headers: { "x-checksum-md5": kept.md5, "x-checksum-sha1": kept.sha1 },
      });
    },
  });
}
