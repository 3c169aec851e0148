/** The realm, service and scope of a `WWW-Authenticate: Bearer` challenge (RFC 6750, distribution token protocol). */
export function parseChallenge(header: string | null): { realm: string; service: string; scope: string } | undefined {
  const [, list] = /^bearer\s+(.*)$/is.exec(header ?? "") ?? [];
  if (list === undefined) return undefined;
  const found = new Map(
    [...list.matchAll(/\b([a-z_]+)="([^"]*)"/gi)].map(([, name = "", value = ""]) => [name.toLowerCase(), value]),
  );
  const realm = found.get("realm");
  return realm === undefined
    ? undefined
    : { realm, service: found.get("service") ?? "", scope: found.get("scope") ?? "" };
}
