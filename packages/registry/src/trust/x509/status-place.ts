import { ASN1Obj } from "@sigstore/core";
import type { Certificate } from "./certificate.ts";

/** Where it is said whether a certificate is revoked, by the certificate's own word. */
export interface StatusPlace {
  /** A responder of OCSP, or a list of the issuer's. */
  kind: "ocsp" | "list";
  url: string;
}

const AUTHORITY_ACCESS = "1.3.6.1.5.5.7.1.1";
const OCSP = "1.3.6.1.5.5.7.48.1";
const LIST_PLACES = "2.5.29.31";
const NO_CHECK = "1.3.6.1.5.5.7.48.1.5";
const EXTENSIONS = 3;
const URI = 6;
const MAX_URL = 2_000;

/**
 * Whom to ask whether the certificate is revoked: the first responder of OCSP that it names, else the first list;
 * undefined where it names none by http or https. Throws for extensions that cannot be read. Source: RFC 5280, sections
 * 4.2.1.13 and 4.2.2.1.
 */
export function statusPlace({ der }: Pick<Certificate, "der">): StatusPlace | undefined {
  const extensions = extensionsOf(der);
  const responders = (extensions.get(AUTHORITY_ACCESS)?.subs ?? []).flatMap(({ subs: [method, location] }) =>
    method?.toOID() === OCSP ? urlIn(location) : [],
  );
  const [responder] = responders;
  if (responder !== undefined) return { kind: "ocsp", url: responder };
  // DistributionPoint: [0] its name, as [0] a full one, which is a list of URLs.
  const [list] = (extensions.get(LIST_PLACES)?.subs ?? []).flatMap(({ subs }) => {
    const full = subs.find(({ tag }) => tag.isContextSpecific(0))?.subs[0];
    // A list by some reasons alone, or by somebody else than the issuer, says nothing of the others.
    return subs.length === 1 && full?.tag.isContextSpecific(0) === true ? full.subs.flatMap(urlIn) : [];
  });
  return list === undefined ? undefined : { kind: "list", url: list };
}

/** Whether the issuer says that the certificate is good as long as it is valid, without asking. Source: RFC 6960. */
export function isNotToBeChecked({ der }: Pick<Certificate, "der">): boolean {
  return extensionsOf(der).has(NO_CHECK);
}

function extensionsOf(der: Buffer): Map<string, ASN1Obj | undefined> {
  const list = ASN1Obj.parseBuffer(Buffer.from(der)).subs[0]?.subs.find(({ tag }) => tag.isContextSpecific(EXTENSIONS));
  return new Map((list?.subs[0]?.subs ?? []).map(({ subs }) => [subs[0]?.toOID() ?? "", subs.at(-1)?.subs[0]]));
}

function urlIn(name: ASN1Obj | undefined): string[] {
  if (name?.tag.isContextSpecific(URI) !== true || name.value.length > MAX_URL) return [];
  const url = URL.parse(name.value.toString("latin1"));
  return url !== null && /^https?:$/.test(url.protocol) ? [url.href] : [];
}
