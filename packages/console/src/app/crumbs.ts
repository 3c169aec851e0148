import { shortDigest } from "../lib/digest.ts";
import { whereIs } from "./nav.ts";

/** A step on the way to a page. Without `href` it is the page itself, or a group that has no page. */
export interface Crumb {
  label: string;
  href?: string;
  /** The path of a group, such as `acme/team`, where the step is one. */
  group?: string;
}

// Pages about an image, which their address names.
const OF_IMAGES = ["/repo", "/repo/settings", "/tag", "/image"];

/**
 * The way to a page from the organization down: its place, its page of the navigation, and what it is about. `name`:
 * the parameter of the same name; `title`: what the page calls itself.
 */
export function crumbsOf(pathname: string, name: string, title: string): Crumb[] {
  const where = whereIs(pathname);
  if (where === undefined) return title === "" ? [] : [{ label: title }];
  if (OF_IMAGES.includes(pathname) && name !== "") return imageCrumbs(pathname, name);
  const { place, item, tab, isDetail } = where;
  const steps: Crumb[] = [{ label: place.label, href: place.to }];
  if (place.items !== undefined) steps.push({ label: item.label, href: item.to });
  if (tab !== undefined && tab.to !== item.to) steps.push({ label: tab.label });
  if (isDetail) steps.push({ label: title });
  // A place whose first page this is, is said once.
  return withoutLink(steps);
}

function imageCrumbs(pathname: string, name: string): Crumb[] {
  const [path = "", digest] = name.split("@");
  const slash = path.lastIndexOf("/");
  const colon = path.indexOf(":", slash + 1);
  const repo = colon < 0 ? path : path.slice(0, colon);
  const parts = repo.split("/");
  const steps: Crumb[] = [{ label: "Images", href: "/images" }];
  // The first part is the organization, which stands before the place.
  for (let at = 1; at < parts.length - 1; at++)
    steps.push({ label: parts[at] ?? "", group: parts.slice(0, at + 1).join("/") });
  steps.push({ label: parts.at(-1) ?? "", href: `/repo?name=${encodeURIComponent(repo)}` });
  if (colon >= 0) steps.push({ label: path.slice(colon + 1), href: `/tag?name=${encodeURIComponent(path)}` });
  if (digest !== undefined) steps.push({ label: shortDigest(digest) });
  if (pathname === "/repo/settings") steps.push({ label: "Settings" });
  return withoutLink(steps);
}

function withoutLink(steps: readonly Crumb[]): Crumb[] {
  return steps.map((step, at) => (at === steps.length - 1 ? { label: step.label } : step));
}
