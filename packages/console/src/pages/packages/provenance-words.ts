import type { FileFacts } from "./file-facts.ts";

const SLSA = /^https:\/\/slsa\.dev\/provenance\/v([0-9.]{1,8})$/;
const MOST_CHARS = 80;

/**
 * What a version says of how it was built. The server keeps what publishers send and verifies nothing of it; clients
 * do.
 */
export function provenanceWords({ attestation, files }: FileFacts): string {
  const attested = files.filter(({ isAttested }) => isAttested === true).length;
  if (attestation !== undefined) return `${kindOf(attestation)}; not verified here, npm audit signatures does`;
  if (attested === 0) return "Not attached";
  const which = attested === files.length ? "each file" : `${attested} of ${files.length} files`;
  return `Attached to ${which}; not verified here`;
}

/** The texts are a publisher's: anything may stand in them. */
function kindOf(predicateType: string): string {
  const version = SLSA.exec(predicateType)?.[1];
  return version === undefined ? `Attached: ${predicateType.slice(0, MOST_CHARS)}` : `SLSA provenance ${version}`;
}
