import { ORIGIN } from "../../../src/libraries/ecosystem/origin.ts";
import { withDocument } from "../../../src/libraries/requests/document.ts";
import type { LibraryExchange } from "../../../src/libraries/requests/exchange.ts";
import type { Asked, OfferedFile } from "../../../src/libraries/requests/file.ts";
import { offeredList } from "./offer.ts";

/** A version that the upstream lists. */
export async function offeredToy(
  exchange: LibraryExchange,
  asked: Asked,
  version: string,
): Promise<OfferedFile | undefined> {
  const { name } = asked.named;
  const { document } = await withDocument(exchange, asked, offeredList(name));
  const offered = (await document?.value())?.[version];
  if (offered === undefined) return undefined;
  const { sha256, license, seenMs } = offered;
  return {
    facts: () => ({ version, license, origin: ORIGIN.upstream, publishMs: seenMs }),
    wanted: {
      key: `${name}/${version}`,
      url: `${asked.settings.url}/${name}/${version}.toy`,
      expected: { sha256 },
    },
    kept: async () => ({
      of: version,
      version: { version, description: "", metadata: JSON.stringify({ license }), publishMs: seenMs },
    }),
    gone: `Not found: ${version}`,
  };
}
