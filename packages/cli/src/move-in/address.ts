// Where a registry that moves in is, as people write it.
import { UsageFailure } from "../command/failure.ts";

/** The scheme, host and port of an address: `https:` unless it says `http://`. Throws a UsageFailure. */
export function originOfAddress(text: string): string {
  const url = URL.parse(text.includes("://") ? text : `https://${text}`);
  if (url === null || !/^https?:$/.test(url.protocol) || url.hostname === "")
    throw new UsageFailure(
      `${text}: is not the address of a registry, such as registry.example.com or http://127.0.0.1:5000`,
    );
  if (url.username !== "" || url.password !== "")
    throw new UsageFailure("the address: must not hold a password, which --password-file names");
  if ((url.pathname !== "/" && url.pathname !== "") || url.search !== "" || url.hash !== "")
    throw new UsageFailure(`${text}: must be an address without a path`);
  return url.origin;
}

/** What `syncConfig.source` is for an image of the registry. */
export function imageAt(origin: string, name: string): string {
  return `${origin}/${name}`;
}

/** Why content at a URL is not asked for: it is not at the registry. */
export function faultOfHost(url: URL, origin: string): string | undefined {
  // Behind a proxy a registry may write another scheme and port than those that it is asked at.
  return url.hostname === new URL(origin).hostname ? undefined : `is at ${url.host}, and not at the source: not asked`;
}

/** Whether a host is a literal address that only a machine itself knows, such as that of a cloud's metadata. */
export function isLinkLocal(host: string): boolean {
  const bare = host.replace(/^\[|\]$/g, "").toLowerCase();
  return (
    /^169\.254\.\d{1,3}\.\d{1,3}$/.test(bare) || /^fe[89ab][0-9a-f]:/.test(bare) || bare.startsWith("::ffff:a9fe:")
  );
}
