// Releases of distributions by their CPE, as CSAF documents name the platforms of packages.

/** A release of a distribution, as the server's own reading of images writes it. */
export interface PlatformRelease {
  /** The type of the purls of its packages, and their namespace. */
  type: "rpm" | "deb" | "apk";
  namespace: string;
  /** As the qualifier `distro` has it, such as `rhel-9`; the ID alone where the CPE names no release. */
  distro: string;
}

type Kind = readonly [type: PlatformRelease["type"], namespace: string, id: string];

const REDHAT: Kind = ["rpm", "redhat", "rhel"];
const SUSE: Kind = ["rpm", "suse", "sles"];

/** By vendor and product. Source: the CPE dictionary of NVD, and the CPEs that vendors publish. */
const KINDS: Readonly<Record<string, Kind>> = {
  "redhat:enterprise_linux": REDHAT,
  "redhat:enterprise_linux_eus": REDHAT,
  "redhat:rhel_eus": REDHAT,
  "redhat:rhel_eus_long_life": REDHAT,
  "redhat:rhel_aus": REDHAT,
  "redhat:rhel_e4s": REDHAT,
  "redhat:rhel_els": REDHAT,
  "redhat:rhel_tus": REDHAT,
  "suse:sles": SUSE,
  "suse:sled": SUSE,
  "suse:sles_sap": SUSE,
  "suse:sles-ltss": SUSE,
  "suse:sle_hpc": SUSE,
  "suse:suse_linux_enterprise_server": SUSE,
  "suse:linux_enterprise_server": SUSE,
  "opensuse:leap": ["rpm", "opensuse", "opensuse-leap"],
  "opensuse:tumbleweed": ["rpm", "opensuse", "opensuse-tumbleweed"],
  "fedoraproject:fedora": ["rpm", "fedora", "fedora"],
  "rocky:rocky": ["rpm", "rocky", "rocky"],
  "resf:rocky_linux": ["rpm", "rocky", "rocky"],
  "almalinux:almalinux": ["rpm", "almalinux", "almalinux"],
  "oracle:linux": ["rpm", "ol", "ol"],
  "amazon:linux": ["rpm", "amzn", "amzn"],
  "amazon:linux_2": ["rpm", "amzn", "amzn"],
  "microsoft:azure_linux": ["rpm", "azurelinux", "azurelinux"],
  "microsoft:cbl-mariner": ["rpm", "mariner", "mariner"],
  "canonical:ubuntu_linux": ["deb", "ubuntu", "ubuntu"],
  "debian:debian_linux": ["deb", "debian", "debian"],
  "alpinelinux:alpine_linux": ["apk", "alpine", "alpine"],
};

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
  const kind = KINDS[`${vendor}:${product}`] ?? (isModuleOfSuse(vendor, product) ? SUSE : undefined);
  if (kind === undefined) return undefined;
  const [type, namespace, id] = kind;
  if (id === "opensuse-tumbleweed") return { type, namespace, distro: id };
  if (!VERSION.test(version)) return undefined;
  // Service packs of SUSE are the second number of its releases.
  const pack = id === "sles" ? /^sp(\d{1,2})$/.exec(update)?.[1] : undefined;
  return { type, namespace, distro: `${id}-${version}${pack === undefined ? "" : `.${pack}`}` };
}

/** Modules and long support, whose packages are those of the server: sle-module-basesystem, sles-ltss-extended. */
function isModuleOfSuse(vendor: string, product: string): boolean {
  return vendor === "suse" && /^sle(?:-module|-sdk|-we|-ha|s-)/.test(product);
}
