import { type LibraryExchange, upstreamsOf } from "../requests/exchange.ts";
import type { UpstreamSettings } from "../upstreams/settings.ts";
import { type Attestation, MAX_BUNDLES_BYTES } from "./attestations.ts";
import { attestationsDocument, keysDocument } from "./tasks.ts";

/** Attestations of a version are not taken back. */
const FRESH_MS = 24 * 3_600_000;
const ABOUT = { accept: "application/json", maxBytes: MAX_BUNDLES_BYTES, freshMs: FRESH_MS, args: undefined } as const;

/** The attestations that an upstream has of a version; `spec` is `<name>@<version>`. Throws 502 and 503. */
export async function offeredAttestations(
  exchange: LibraryExchange,
  settings: UpstreamSettings,
  spec: string,
): Promise<Attestation[]> {
  const found = await upstreamsOf(exchange).documents.of(settings, `attestations of ${spec}`, {
    ...ABOUT,
    kind: attestationsDocument,
    url: `${settings.url}/-/npm/v1/attestations/${spec.replace("/", "%2f")}`,
  });
  return (await found?.value()) ?? [];
}

/** The keys with which an upstream signs its versions, as `npm audit signatures` reads them. Throws 502 and 503. */
export async function offeredKeys(
  exchange: LibraryExchange,
  settings: UpstreamSettings,
): Promise<{ keys: unknown[] } | undefined> {
  const found = await upstreamsOf(exchange).documents.of(settings, "signing keys", {
    ...ABOUT,
    kind: keysDocument,
    url: `${settings.url}/-/npm/v1/keys`,
  });
  return await found?.value();
}
