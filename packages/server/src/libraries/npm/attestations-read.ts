import { filesOf, versionNamed } from "../artifacts/visible.ts";
import { libraryError } from "../http/errors.ts";
import { type LibraryExchange, read } from "../http/exchange.ts";
import { sendJson } from "../http/send.ts";
import { attestationsIn } from "./attestations.ts";
import { packageFor } from "./read.ts";

/** What the path of attestations begins with; `<name>@<version>` follows. */
export const ATTESTATIONS = "npm/v1/attestations/";

/** GET of the attestations of a version. Source: npm's registry, as `npm audit signatures` reads it. */
export async function sendAttestations(
  exchange: LibraryExchange,
  group: readonly string[],
  spec: string,
): Promise<void> {
  const cut = spec.lastIndexOf("@");
  const [name, version] = [spec.slice(0, cut), spec.slice(cut + 1)];
  const attestations = await read(exchange, async (call) => {
    const artifact = await packageFor(call, exchange, { group, name });
    const row = await versionNamed(call.tx, artifact.uid, version);
    const files = row === undefined ? [] : await filesOf(call.tx, artifact.uid);
    return files.filter((file) => file.version === row?.uid).flatMap((file) => attestationsIn(file.metadata));
  });
  if (attestations.length === 0) throw libraryError(404, `Not found: attestations of ${spec}`);
  sendJson(exchange, 200, { attestations }, { "cache-control": "private, no-cache" });
}
