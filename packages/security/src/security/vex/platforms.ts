import { distributionOfCpe } from "@moorage/kernel/lib/purls";

// Releases of distributions by their CPE, as CSAF documents name the platforms of packages.

/** A release of a distribution, as the server's own reading of images writes it. */
export interface PlatformRelease {
  /** The type of the purls of its packages, and their namespace. */
  type: "rpm" | "deb" | "apk";
  namespace: string;
  /** As the qualifier `distro` has it, such as `rhel-9`; the ID alone where the CPE names no release. */
  distro: string;
}

const MAX_CPE = 500;
const VERSION = /^\d+(?:\.\d+){0,3}$/;

/**
 * The release that a CPE names, in the form of a URI (2.2) or of a formatted string (2.3), of an operating system or of
 * a repository of one. Undefined for all others, and for a distribution whose release it does not name.
 */
export function platformRelease(cpe: string): PlatformRelease | undefined {
  if (cpe.length > MAX_CPE) return undefined;
  const parts = cpe.startsWith("cpe:2.3:")
    ? cpe.slice("cpe:2.3:".length).split(":")
    : cpe.startsWith("cpe:/")
      ? cpe.slice("cpe:/".length).split(":")
      : [];
  const [, vendor = "", product = "", version = "", update = ""] = parts.map((part) =>
    part.replaceAll("\\", "").toLowerCase(),
  );
  const found = distributionOfCpe(vendor, isModuleOfSuse(vendor, product) ? "sles" : product);
  if (found === undefined) return undefined;
  const { id, type, namespace, numbers } = found;
  if (numbers === 0) return { type, namespace, distro: id };
  if (!VERSION.test(version)) return undefined;
  // Service packs of SUSE are the second number of its releases.
  const pack = id === "sles" ? /^sp(\d{1,2})$/.exec(update)?.[1] : undefined;
  return { type, namespace, distro: `${id}-${version}${pack === undefined ? "" : `.${pack}`}` };
}

/** Modules and long support, whose packages are those of the server: sle-module-basesystem, sles-ltss-extended. */
function isModuleOfSuse(vendor: string, product: string): boolean {
  return vendor === "suse" && /^sle(?:-module|-sdk|-we|-ha|s-)/.test(product);
}
