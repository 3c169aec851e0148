import { parseJson } from "@moorage/kernel/lib/json";
import { libraryError } from "../http/errors.ts";
import { isRecord } from "./manifest.ts";

/** An attestation of a version, such as its provenance: a bundle of Sigstore, as its publisher sent it. */
export interface Attestation {
  predicateType: string;
  bundle: Record<string, unknown>;
}

/** All bundles of one version: each has some ten kilobytes, and some hundred values. */
export const MAX_BUNDLES_BYTES = 1024 * 1024;
export const MAX_BUNDLE_DEPTH = 64;
export const MAX_BUNDLE_VALUES = 20_000;

/** Whether the value is an attestation. */
export function isAttestation(value: unknown): value is Attestation {
  return isRecord(value) && typeof value["predicateType"] === "string" && isRecord(value["bundle"]);
}

/**
 * What is kept of the attestation that was attached to a publish, as JSON. It is not verified: whoever installs does
 * that with `npm audit signatures`. Throws 400 for what is no bundle about something.
 */
export function attestedBy(attached: string | undefined): string {
  if (attached === undefined) return "{}";
  const attestation = attestationOf(attached);
  if (attestation === undefined)
    throw libraryError(400, "Invalid argument: _attachments: the provenance is no bundle of Sigstore");
  return JSON.stringify({ attestations: [attestation] });
}

function attestationOf(text: string): Attestation | undefined {
  try {
    if (text.length > MAX_BUNDLES_BYTES) return undefined;
    const bundle = parseJson(text, MAX_BUNDLE_DEPTH, MAX_BUNDLE_VALUES);
    const envelope = isRecord(bundle) ? bundle["dsseEnvelope"] : undefined;
    if (!isRecord(bundle) || !isRecord(envelope) || typeof envelope["payload"] !== "string") return undefined;
    const payload = Buffer.from(envelope["payload"], "base64").toString();
    const statement = parseJson(payload, MAX_BUNDLE_DEPTH, MAX_BUNDLE_VALUES);
    const predicateType = isRecord(statement) ? statement["predicateType"] : undefined;
    return typeof predicateType === "string" ? { predicateType, bundle } : undefined;
  } catch {
    return undefined;
  }
}

/** The attestations in what is kept of a file. */
export function attestationsIn(metadata: string): Attestation[] {
  return (JSON.parse(metadata) as { attestations?: Attestation[] }).attestations ?? [];
}

/** Where they are, below the URL of the group's packages. */
export function attestationsPath(name: string, version: string): string {
  return `-/npm/v1/attestations/${name.replace("/", "%2f")}@${version}`;
}

/** What `dist` of a version says of them. */
export function linkTo([first]: readonly Attestation[], url: string): object {
  return { url, provenance: { predicateType: first?.predicateType ?? "" } };
}
