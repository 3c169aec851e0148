// References of CycloneDX documents to components, of their own or of other documents. Source: CycloneDX, BOM-Link.

/** A BOM-Link: the serial number of a document, its version, and a reference in it. */
export interface BomLink {
  serialNumber: string;
  version: string;
  ref: string;
}

const LINK = /^urn:cdx:([0-9a-f-]{36})\/([0-9]{1,9})#/i;

/** The parts of a BOM-Link to a component. Undefined for another reference. */
export function bomLink(text: string): BomLink | undefined {
  const [start, serialNumber = "", version = ""] = LINK.exec(text) ?? [];
  return start === undefined
    ? undefined
    : { serialNumber: serialNumber.toLowerCase(), version, ref: text.slice(start.length) };
}

/**
 * The references that the text may mean: as it stands, and with its percent-encoding undone, both of what stands
 * behind the `#` of a BOM-Link.
 */
export function refsIn(text: string): string[] {
  const at = text.startsWith("urn:cdx:") ? text.indexOf("#") : -1;
  const ref = text.slice(at + 1);
  const decoded = decodedOf(ref);
  return decoded === undefined || decoded === ref ? [ref] : [ref, decoded];
}

/** The purl that one of the references is, or that the component with it has. */
export function purlOfRefs(refs: readonly string[], purls: ReadonlyMap<string, string>): string | undefined {
  for (const ref of refs) {
    const purl = purls.get(ref);
    if (purl !== undefined) return purl;
  }
  return refs.find((ref) => ref.startsWith("pkg:"));
}

function decodedOf(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
