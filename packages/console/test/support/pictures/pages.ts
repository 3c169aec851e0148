import type { Showcase } from "../showcase.ts";

/** A page of the design. */
export interface DesignPage {
  name: string;
  path: string;
  /** Its picture in docs/console.md, by the name of the file. */
  document?: string;
  /** For whoever is not signed in. */
  isSignedOut?: boolean;
  /** What is pressed before the picture is taken. */
  keys?: string;
  /** What is typed then, and the text that is shown by it. */
  typed?: readonly [text: string, shown: string];
}

/** An image that is not there, with a name near to one that is. */
export const MISSING_IMAGE = "acme/wbe";

/** The pages of the design, with what the showcase has. */
export function designPages({
  repo,
  digest,
  advisory,
  identity,
  subscription,
  artifact,
  organization,
  policy,
  upstream,
}: Showcase): DesignPage[] {
  return [
    { name: "home", path: "/", document: "home" },
    { name: "palette", path: "/", keys: "Control+K", typed: ["CVE-2026-31337", "CVE-2026-31337"] },
    { name: "images", path: "/images" },
    { name: "image", path: "/repo?name=acme/web", document: "images" },
    { name: "image-new", path: "/repo?name=acme/worker" },
    { name: "timeline", path: "/tag?name=acme/web:latest", document: "timeline" },
    { name: "timeline-one", path: "/tag?name=acme/worker:3.1.0" },
    { name: "compare", path: "/compare?from=acme/web:1.0.0&to=acme/web:1.2.0", document: "compare" },
    { name: "version", path: `/image?name=acme/web@${digest}` },
    { name: "version-findings", path: `/image?name=acme/web@${digest}&part=findings`, document: "image" },
    { name: "image-settings", path: "/repo/settings?name=acme/web", document: "settings" },
    { name: "replications", path: "/images/replications" },
    { name: "upstreams", path: "/images/upstreams" },
    { name: "upstream", path: `/images/upstream?uid=${upstream}` },
    { name: "packages", path: "/packages" },
    { name: "package", path: `/package?uid=${artifact}`, document: "package" },
    { name: "package-upstreams", path: "/packages/upstreams" },
    { name: "package-policies", path: "/packages/policies" },
    { name: "findings", path: "/vulnerabilities" },
    { name: "vulnerability", path: "/vulnerability?id=CVE-2026-31337", document: "vulnerability" },
    { name: "advisories", path: "/advisories" },
    { name: "advisory", path: `/advisory?uid=${advisory}` },
    { name: "signature-policy", path: `/signatures/policy?uid=${policy}`, document: "signatures" },
    { name: "signers", path: "/signatures/signers" },
    { name: "trust-roots", path: "/signatures/trust-roots" },
    { name: "members", path: `/access/bindings?group=${organization}` },
    { name: "group", path: `/access/group?uid=${organization}` },
    { name: "machines", path: "/access/machines" },
    { name: "pull-tokens", path: "/access/pull-tokens" },
    { name: "roles", path: "/access/roles" },
    { name: "providers", path: "/access/providers" },
    {
      name: "check-access",
      path: `/access/explain?identity=${identity}&action=pull&resource=acme/web:latest`,
      document: "access",
    },
    { name: "events", path: `/events?subject=${repo}&type=dev.moorage.registry.push`, document: "events" },
    { name: "webhooks", path: "/events/subscriptions" },
    { name: "webhook-new", path: `/events/subscriptions/new?group=${organization}`, document: "webhook-new" },
    { name: "webhook", path: `/events/subscription?uid=${subscription}`, document: "subscription" },
    { name: "system", path: "/operations", document: "operations" },
    { name: "storage", path: "/operations/storage", document: "storage" },
    { name: "quotas", path: "/operations/quotas", document: "quotas" },
    { name: "usage", path: `/operations/usage?group=${organization}`, document: "usage" },
    { name: "feeds", path: "/operations/feeds" },
    { name: "profile", path: "/profile" },
    { name: "tokens", path: "/profile/tokens" },
    { name: "not-found", path: `/repo?name=${MISSING_IMAGE}` },
    { name: "sign-in", path: "/login", isSignedOut: true },
    { name: "sign-in-known", path: "/login?organization=acme", isSignedOut: true },
  ];
}

/**
 * One page of each place: where the whole is too long, these say whether what all pages have in common looks as it did.
 */
export const ONE_OF_EACH_PLACE = [
  "home",
  "image",
  "package",
  "vulnerability",
  "members",
  "webhooks",
  "storage",
  "tokens",
  "sign-in",
];

/** What the console looks like for a reader. */
export interface Look {
  width: number;
  height: number;
  theme: "light" | "dark";
}

/** Both themes at these widths, in CSS pixels. */
export function looksAt(widths: readonly number[]): Look[] {
  return widths.flatMap((width) =>
    (["light", "dark"] as const).map((theme) => ({ width, height: width < 600 ? 844 : 900, theme })),
  );
}
