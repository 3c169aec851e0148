// Names of one architecture, the first of which is ours, and those that kinds of packages have for it.
const ARCHITECTURES: readonly (readonly [names: string, deb: string, rpm: string, apk: string])[] = [
  ["amd64 x86_64 x86-64 x64", "amd64", "x86_64", "x86_64"],
  ["arm64 aarch64 armv8 arm64v8", "arm64", "aarch64", "aarch64"],
  ["i386 386 i486 i586 i686 x86 ia32", "i386", "i686", "x86"],
  ["armhf armv7l armv7 armv7hl armv7hnl arm32v7", "armhf", "armv7hl", "armv7"],
  ["armel armv5 armv5l armv5tel armv6 armv6l armv6hl arm32v5 arm32v6", "armel", "armv6hl", "armhf"],
  ["ppc64le ppc64el powerpc64le", "ppc64el", "ppc64le", "ppc64le"],
  ["mips64le mips64el", "mips64el", "mips64el", "mips64el"],
  ["loong64 loongarch64", "loong64", "loongarch64", "loongarch64"],
  ["all noarch", "all", "noarch", "noarch"],
  ["source src nosrc", "source", "src", "src"],
];

const BY_NAME = new Map(
  ARCHITECTURES.flatMap(([names, deb, rpm, apk]) => {
    const all = names.split(" ");
    return all.map((name): [string, { own: string; deb: string; rpm: string; apk: string; all: string[] }] => [
      name,
      { own: all[0] ?? name, deb, rpm, apk, all },
    ]);
  }),
);

/** The architecture in our name for it, so that names of one are equal. */
export function comparableArchitecture(name: string): string {
  const lower = name.toLowerCase();
  return BY_NAME.get(lower)?.own ?? lower;
}

/** The architecture as packages of the type write it. A name that they have is left as it is. */
export function architectureOf(type: "deb" | "rpm" | "apk", name: string): string {
  const lower = name.toLowerCase();
  const known = BY_NAME.get(lower);
  if (known === undefined) return lower;
  // RPMs for several of the x86 and Arm processors stand beside each other.
  return type === "rpm" && RPM_OWN.has(lower) ? lower : type === "apk" && lower === "armhf" ? lower : known[type];
}

const RPM_OWN: ReadonlySet<string> = new Set(
  "i386 i486 i586 i686 armv5tel armv6l armv6hl armv7l armv7hl armv7hnl nosrc".split(" "),
);

/** Whether it says that the package is a source, from which others are built. */
export function isSource(architecture: string): boolean {
  return comparableArchitecture(architecture) === "source";
}
