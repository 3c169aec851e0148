import { parseJson } from "@moorage/kernel/lib/json";
import type { DocumentReader } from "../ecosystem/document-kind.ts";
import { type Attestation, isAttestation, MAX_BUNDLE_DEPTH, MAX_BUNDLE_VALUES } from "./attestations.ts";
import { isRecord } from "./manifest.ts";

/** How what attests one version is read. It is small: see upstream-attestations.ts for its bytes. */
export const attestationsKind: DocumentReader<Attestation[], undefined> = {
  parse(bytes) {
    const document = parseJson(bytes.toString(), MAX_BUNDLE_DEPTH, MAX_BUNDLE_VALUES);
    const given = isRecord(document) ? document["attestations"] : undefined;
    if (!Array.isArray(given)) throw new Error("has no attestations");
    return given.filter(isAttestation);
  },
};

/** How the keys are read with which an upstream signs its versions. */
export const keysKind: DocumentReader<{ keys: unknown[] }, undefined> = {
  parse(bytes) {
    const document = parseJson(bytes.toString(), MAX_BUNDLE_DEPTH, MAX_BUNDLE_VALUES);
    if (!isRecord(document) || !Array.isArray(document["keys"])) throw new Error("has no keys");
    return { keys: document["keys"] as unknown[] };
  },
};
