import type { LucideIcon } from "lucide-react";
import { Activity, Container, House, Package, Server, Shield, Users } from "lucide-react";

/** A page of the navigation, or a tab of one. */
export interface NavPage {
  to: string;
  label: string;
  /** Other words that people look for it by, in small letters. */
  words?: string;
}

/** A page of the navigation with the pages that are its tabs; the first tab is the page itself. */
interface NavItem extends NavPage {
  tabs?: readonly NavPage[];
  /** Pages about one thing out of its lists. */
  details?: readonly string[];
}

/** A place of the navigation. One without items is a page itself. */
export interface NavPlace extends NavItem {
  icon: LucideIcon;
  items?: readonly NavItem[];
}

const home: NavPlace = { to: "/", label: "Home", icon: House, words: "start dashboard overview" };

const images: NavPlace = {
  to: "/images",
  label: "Images",
  icon: Container,
  words: "repos repository repositories registry containers tags artifacts",
  tabs: [
    { to: "/images", label: "All images", words: "images repos repositories" },
    { to: "/images/mirrors", label: "Mirrors", words: "sync proxy cache copy follow upstream" },
    { to: "/images/upstreams", label: "Upstreams", words: "proxy cache remote registries docker hub stand in edge" },
    { to: "/images/replications", label: "Replications", words: "push copy sync archive other registry outgoing" },
    { to: "/images/deprecated", label: "Deprecated", words: "old end of life replaced" },
  ],
  details: ["/repo", "/repo/settings", "/tag", "/image", "/compare", "/images/replication", "/images/upstream"],
};

const packages: NavPlace = {
  to: "/packages",
  label: "Packages",
  icon: Package,
  words: "library libraries artifacts npm pypi python maven java javascript",
  tabs: [
    { to: "/packages", label: "Browse", words: "packages library libraries npm pypi maven" },
    { to: "/packages/upstreams", label: "Upstreams", words: "proxy cache remote registries npmjs pypi central" },
    { to: "/packages/policies", label: "Policies", words: "cooldown license malware block rules" },
    { to: "/packages/blocked", label: "Blocked", words: "blocks denied cooldown malware" },
  ],
  details: ["/package"],
};

const security: NavPlace = {
  to: "/vulnerabilities",
  label: "Security",
  icon: Shield,
  items: [
    {
      to: "/vulnerabilities",
      label: "Findings",
      words: "vulnerabilities cves scanner issues",
      details: ["/vulnerability"],
    },
    { to: "/advisories", label: "Advisories", words: "vex openvex csaf", details: ["/advisory"] },
    {
      to: "/signatures/policies",
      label: "Signatures",
      words: "signing cosign sigstore notation gates trust",
      tabs: [
        { to: "/signatures/policies", label: "Policies", words: "signature policies gates exemptions admission" },
        { to: "/signatures/signers", label: "Signers", words: "keys cosign fulcio keyless trust" },
        { to: "/signatures/trust-roots", label: "Trust roots", words: "sigstore tuf fulcio rekor trusted root" },
      ],
      details: ["/signatures/policy", "/signatures/signer", "/signatures/trust-root"],
    },
    { to: "/scanners", label: "Scanners", words: "trivy adapter scans external" },
  ],
};

const access: NavPlace = {
  to: "/access/bindings",
  label: "Access",
  icon: Users,
  items: [
    {
      to: "/access/bindings",
      label: "People",
      words: "users members permissions rights",
      tabs: [
        { to: "/access/bindings", label: "Members", words: "role bindings access permissions users team" },
        { to: "/access/identities", label: "Directory", words: "identities users people accounts" },
        { to: "/access/invites", label: "Invites", words: "invitations onboarding" },
        { to: "/access/mappings", label: "Groups from providers", words: "external groups mappings teams" },
        { to: "/access/groups", label: "Groups", words: "folders organizations teams projects namespaces" },
        { to: "/access/personal-tokens", label: "Personal tokens", words: "passwords pat people" },
      ],
      details: ["/access/identity", "/access/group"],
    },
    {
      to: "/access/machines",
      label: "Machines",
      words: "robots service accounts ci identities workloads bots",
      tabs: [
        { to: "/access/machines", label: "CI and push tokens", words: "robots service accounts machines oidc bots" },
        { to: "/access/pull-tokens", label: "Pull tokens", words: "robots deploy kubernetes imagepullsecret password" },
        { to: "/access/associations", label: "Cloud accounts", words: "aws gcp azure associations" },
      ],
    },
    { to: "/access/roles", label: "Roles", words: "permissions capabilities rights", details: ["/access/role"] },
    {
      to: "/access/providers",
      label: "Sign-in",
      words: "sso login oidc okta authentication",
      tabs: [
        { to: "/access/providers", label: "Identity providers", words: "sso oidc okta login authentication" },
        { to: "/access/terms", label: "Terms", words: "terms of use agreement license" },
      ],
    },
    { to: "/access/explain", label: "Check access", words: "who may do what explain permissions denied why" },
  ],
};

const activity: NavPlace = {
  to: "/events",
  label: "Activity",
  icon: Activity,
  items: [
    { to: "/events", label: "Events", words: "live feed stream" },
    {
      to: "/events/subscriptions",
      label: "Webhooks",
      words: "subscriptions notifications hooks deliveries dead letters",
      details: ["/events/subscription", "/events/subscriptions/new"],
    },
    { to: "/audit", label: "Audit log", words: "history who did what trail csv" },
  ],
};

const system: NavPlace = {
  to: "/operations",
  label: "System",
  icon: Server,
  items: [
    {
      to: "/operations",
      label: "Overview",
      words: "installation operations jobs garbage collection health version",
      tabs: [
        { to: "/operations", label: "Overview", words: "installation jobs garbage collection health version" },
        { to: "/sessions", label: "Sessions", words: "signed in browsers devices log out" },
      ],
    },
    {
      to: "/operations/storage",
      label: "Storage",
      words: "disk space usage size",
      tabs: [
        { to: "/operations/storage", label: "Storage", words: "disk space size blobs" },
        { to: "/operations/quotas", label: "Quotas", words: "limits limit space full exceeded quota" },
        { to: "/operations/usage", label: "Usage", words: "traffic cost chargeback growth pulls bandwidth csv" },
      ],
    },
    { to: "/operations/feeds", label: "Feeds", words: "vulnerability data scanners osv kev epss presets" },
  ],
};

/** The places of the console, as the navigation shows them. */
export const PLACES: readonly NavPlace[] = [home, images, packages, security, access, activity, system];

/** The places before the gap in the navigation, which a phone has at its foot. */
export const FIRST_PLACES = 4;

/** Where a page stands: its place, the page of the navigation, and the tab of that, as far as there are such. */
export interface Where {
  place: NavPlace;
  item: NavItem;
  tab: NavPage | undefined;
  /** Whether it is a page about one thing out of the lists. */
  isDetail: boolean;
}

/** Where the page with this path stands; undefined for one that is in no place. */
export function whereIs(pathname: string): Where | undefined {
  for (const place of PLACES)
    for (const item of place.items ?? [place]) {
      const tab = item.tabs?.find(({ to }) => to === pathname);
      const isDetail = item.details?.includes(pathname) ?? false;
      if (item.to === pathname || tab !== undefined || isDetail) return { place, item, tab, isDetail };
    }
  return undefined;
}

/** All pages that can be gone to, each once, with the words that they are found by. */
export function allPages(): (NavPage & { place: string })[] {
  return PLACES.flatMap((place) =>
    (place.items ?? [place]).flatMap((item) =>
      (item.tabs ?? [item]).map((page) => ({
        ...page,
        words: [page.to === item.to ? item.words : "", page.words, place.label].join(" ").toLowerCase(),
        place: item.label === page.label ? place.label : `${place.label}, ${item.label}`,
      })),
    ),
  );
}
