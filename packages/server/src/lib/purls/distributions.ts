/** A distribution: how it, its purls and its releases are called. */
interface Distribution {
  /** The ID of its os-release. */
  id: string;
  /** The namespace of its purls. */
  namespace: string;
  /** Other names that tools give to it, in lower case. */
  others?: readonly string[];
  /** How many numbers of a version name the release; the others name its updates. 0: it has no releases. */
  numbers: number;
  /** Its releases with more numbers are maintained beside each other: where both are said, they must be the same. */
  hasMinors?: boolean;
  /** Releases by their code names, in lower case with hyphens. */
  codeNames?: Readonly<Record<string, string>>;
}

// Everything that is known of distributions and the names of their releases. Sources: the lists of releases of each.
const DISTRIBUTIONS: readonly Distribution[] = [
  {
    id: "debian",
    namespace: "debian",
    numbers: 1,
    codeNames: {
      squeeze: "6",
      wheezy: "7",
      jessie: "8",
      stretch: "9",
      buster: "10",
      bullseye: "11",
      bookworm: "12",
      trixie: "13",
      forky: "14",
      duke: "15",
    },
  },
  {
    id: "ubuntu",
    namespace: "ubuntu",
    numbers: 2,
    codeNames: {
      precise: "12.04",
      trusty: "14.04",
      xenial: "16.04",
      bionic: "18.04",
      focal: "20.04",
      groovy: "20.10",
      hirsute: "21.04",
      impish: "21.10",
      jammy: "22.04",
      kinetic: "22.10",
      lunar: "23.04",
      mantic: "23.10",
      noble: "24.04",
      oracular: "24.10",
      plucky: "25.04",
      questing: "25.10",
      resolute: "26.04",
    },
  },
  { id: "alpine", namespace: "alpine", others: ["alpine-linux", "alpinelinux"], numbers: 2 },
  { id: "wolfi", namespace: "wolfi", numbers: 0 },
  { id: "chainguard", namespace: "chainguard", numbers: 0 },
  {
    id: "rhel",
    namespace: "redhat",
    others: ["red-hat", "red-hat-enterprise-linux", "enterprise_linux", "enterprise-linux"],
    numbers: 1,
    hasMinors: true,
    codeNames: { santiago: "6", maipo: "7", ootpa: "8", plow: "9", coughlan: "10" },
  },
  { id: "centos", namespace: "centos", others: ["centos-linux"], numbers: 1 },
  {
    id: "rocky",
    namespace: "rocky",
    others: ["rocky-linux", "rockylinux"],
    numbers: 1,
    codeNames: { "green-obsidian": "8", "blue-onyx": "9", "red-quartz": "10" },
  },
  {
    id: "almalinux",
    namespace: "almalinux",
    others: ["alma", "alma-linux"],
    numbers: 1,
    codeNames: {
      "purple-manul": "8.3",
      "electric-cheetah": "8.4",
      "arctic-sphynx": "8.5",
      "sky-tiger": "8.6",
      "stone-smilodon": "8.7",
      "sapphire-caracal": "8.8",
      "midnight-oncilla": "8.9",
      "cerulean-leopard": "8.10",
      "emerald-puma": "9.0",
      "lime-lynx": "9.1",
      "turquoise-kodkod": "9.2",
      "shamrock-pampas-cat": "9.3",
      "seafoam-ocelot": "9.4",
      "teal-serval": "9.5",
      "sage-margay": "9.6",
      "moss-jungle-cat": "9.7",
      "purple-lion": "10.0",
    },
  },
  { id: "ol", namespace: "ol", others: ["oracle", "oracle-linux", "oraclelinux"], numbers: 1 },
  { id: "amzn", namespace: "amzn", others: ["amazon", "amazon-linux", "amazonlinux"], numbers: 1 },
  { id: "fedora", namespace: "fedora", numbers: 1 },
  { id: "sles", namespace: "suse", others: ["suse-linux-enterprise-server"], numbers: 2 },
  { id: "opensuse-leap", namespace: "opensuse", others: ["opensuse.leap"], numbers: 2 },
];

const BY_NAME: ReadonlyMap<string, Distribution> = new Map(
  // Two distributions of SUSE have packages of one namespace each: their own IDs come first.
  DISTRIBUTIONS.flatMap((each) =>
    [each.id, each.namespace, ...(each.others ?? [])].map((name): [string, Distribution] => [name, each]),
  ),
);
const BY_CODE_NAME: ReadonlyMap<string, Release> = new Map(
  DISTRIBUTIONS.flatMap(({ id, codeNames = {} }) =>
    Object.entries(codeNames).map(([name, version]): [string, Release] => [name, { id, version }]),
  ),
);

/** A distribution with its version, as its os-release has them: ID and VERSION_ID. The version may be empty. */
export interface Release {
  id: string;
  version: string;
}

/** The ID of the os-release of the distribution that a tool calls so. */
export function distributionId(name: string): string {
  const folded = fold(name);
  return BY_NAME.get(folded)?.id ?? folded;
}

/** The namespace of purls of the distribution that a tool calls so. */
export function namespaceOf(name: string): string {
  const folded = fold(name);
  return BY_NAME.get(folded)?.namespace ?? folded;
}

const fold = (name: string): string => name.trim().toLowerCase().replaceAll(" ", "-");

/** The letters of a distribution and its version, as in `debian-12` or `v3.20`. */
const WRITTEN = /^[\w.+~-]{1,128}$/;
const ID = /^[a-z][\w.-]*$/;
const VERSION = /^v?(\d.*)$/;
const OF_PACKAGES = /^(?:el|fc)(\d+)/;

/**
 * The release that the qualifier `distro` of a purl of the namespace means: a code name, an ID with a version or a code
 * name, or a version alone. Undefined for what says nothing that is known.
 */
export function readRelease(distro: string, namespace: string): Release | undefined {
  const text = fold(distro);
  if (!WRITTEN.test(text)) return undefined;
  const named = BY_CODE_NAME.get(text);
  if (named !== undefined) return named;
  if (BY_NAME.has(text)) return { id: distributionId(text), version: "" };
  const version = VERSION.exec(text)?.[1] ?? OF_PACKAGES.exec(text)?.[1];
  if (version !== undefined) return namespace === "" ? undefined : { id: distributionId(namespace), version };
  // The version begins after the first hyphen that a digit follows, as in opensuse-leap-15.6.
  const cut = text.search(/-v?\d/);
  if (cut > 0 && ID.test(text.slice(0, cut)))
    return { id: distributionId(text.slice(0, cut)), version: text.slice(cut + 1).replace(/^v/, "") };
  const hyphen = [...BY_NAME.keys()].find((name) => text.startsWith(`${name}-`))?.length ?? -1;
  const other = hyphen < 0 ? undefined : BY_CODE_NAME.get(text.slice(hyphen + 1));
  return other !== undefined && other.id === distributionId(text.slice(0, hyphen)) ? other : undefined;
}

/** The version of the release with this code name, such as `12` of bookworm; undefined for none. */
export function versionNamed(id: string, codeName: string): string | undefined {
  const named = BY_CODE_NAME.get(fold(codeName));
  return named?.id === id ? named.version : undefined;
}

/**
 * What the release is called without its updates: `12` of Debian 12.5, `3.20` of Alpine 3.20.3; empty for
 * distributions without releases. Undefined where that is not said, or the distribution is not known.
 */
export function releaseOf({ id, version }: Release): string | undefined {
  const known = BY_NAME.get(id);
  if (known === undefined) return undefined;
  const numbers = version.replace(/^v/, "").split(".");
  const isNumber = numbers.every((number) => /^[0-9]{1,9}$/.test(number));
  if (known.numbers === 0) return "";
  return isNumber && numbers.length >= known.numbers ? numbers.slice(0, known.numbers).join(".") : undefined;
}

/** Whether a package of the one release is in what is said of the other. One without a version is said of all. */
export function isInRelease(held: Release, said: Release): boolean {
  if (held.id !== said.id) return false;
  if (said.version === "" || held.version === said.version) return true;
  const [ours, theirs] = [releaseOf(held), releaseOf(said)];
  if (ours === undefined || theirs === undefined) return held.version.startsWith(`${said.version}.`);
  const [minor, other] = [held, said].map(({ version }) => version.split(".")[1]);
  const isMinor = BY_NAME.get(held.id)?.hasMinors !== true || minor === undefined || other === undefined;
  return ours === theirs && (isMinor || minor === other);
}

/** The qualifier `distro` of a release. Debian's os-release has no updates, which others count. */
export function writeRelease({ id, version }: Release): string {
  const written = id === "debian" ? (releaseOf({ id, version }) ?? version) : version;
  return [id, written].filter((part) => part !== "").join("-");
}
