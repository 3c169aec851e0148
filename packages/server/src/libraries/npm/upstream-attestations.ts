import type { LibraryExchange } from "../http/exchange.ts";
import type { UpstreamSettings } from "../upstreams/settings.ts";
import type { Attestation } from "./attestations.ts";
import { isRecord } from "./manifest.ts";

const MAX_BYTES = 8 * 1024 * 1024;
/** Attestations of a version are not taken back. */
const FRESH_MS = 24 * 3_600_000;

/** The attestations that an upstream has of a version; `spec` is `<name>@<version>`. Throws 502 and 503. */
export async function offeredAttestations(
  { deps }: LibraryExchange,
  settings: UpstreamSettings,
  spec: string,
): Promise<Attestation[]> {
  const found = await deps.upstreams.documents.of<Attestation[]>(settings, `attestations of ${spec}`, {
    url: `${settings.url}/-/npm/v1/attestations/${spec.replace("/", "%2f")}`,
    accept: "application/json",
    maxBytes: MAX_BYTES,
    freshMs: FRESH_MS,
    parse(bytes) {
      const document: unknown = JSON.parse(bytes.toString());
      const given = isRecord(document) ? document["attestations"] : undefined;
      if (!Array.isArray(given)) throw new Error("has no attestations");
      return given.filter(isAttestation);
    },
  });
  return (await found?.value()) ?? [];
}

function isAttestation(value: unknown): value is Attestation {
  return isRecord(value) && typeof value["predicateType"] === "string" && isRecord(value["bundle"]);
}

/** The keys with which an upstream signs its versions, as `npm audit signatures` reads them. Throws 502 and 503. */
export async function offeredKeys({ deps }: LibraryExchange, settings: UpstreamSettings): Promise<unknown> {
  const found = await deps.upstreams.documents.of<unknown>(settings, "signing keys", {
    url: `${settings.url}/-/npm/v1/keys`,
    accept: "application/json",
    maxBytes: MAX_BYTES,
    freshMs: FRESH_MS,
    parse(bytes) {
      const document: unknown = JSON.parse(bytes.toString());
      if (!isRecord(document) || !Array.isArray(document["keys"])) throw new Error("has no keys");
      return { keys: document["keys"] };
    },
  });
  return await found?.value();
}
