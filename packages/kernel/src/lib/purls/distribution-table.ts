/** A distribution: how it, its purls and its releases are called. */
export interface Distribution {
  /** The ID of its os-release. */
  id: string;
  /** The type of the purls of its packages, and their namespace. */
  type: "rpm" | "deb" | "apk";
  namespace: string;
  /** Other names that tools give to it, in lower case. */
  others?: readonly string[];
  /** Vendor and product of its CPEs, with a colon between: its own, and those of editions that have its packages. */
  cpes?: readonly string[];
  /** How many numbers of a version name the release; the others name its updates. 0: it has no releases. */
  numbers: number;
  /** Its releases with more numbers are maintained beside each other: where both are said, they must be the same. */
  hasMinors?: boolean;
  /** Releases by their code names, in lower case with hyphens. */
  codeNames?: Readonly<Record<string, string>>;
}

/**
 * Everything that is known of distributions and the names of their releases. Sources: the lists of releases of each,
 * the CPE dictionary of NVD, and the CPEs that vendors publish.
 */
export const DISTRIBUTIONS: readonly Distribution[] = [
  {
    id: "debian",
    type: "deb",
    namespace: "debian",
    cpes: ["debian:debian_linux"],
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
    type: "deb",
    namespace: "ubuntu",
    cpes: ["canonical:ubuntu_linux"],
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
  {
    id: "alpine",
    type: "apk",
    namespace: "alpine",
    cpes: ["alpinelinux:alpine_linux"],
    others: ["alpine-linux", "alpinelinux"],
    numbers: 2,
  },
  { id: "wolfi", type: "apk", namespace: "wolfi", numbers: 0 },
  { id: "chainguard", type: "apk", namespace: "chainguard", numbers: 0 },
  {
    id: "rhel",
    type: "rpm",
    namespace: "redhat",
    cpes: [
      "redhat:enterprise_linux",
      "redhat:enterprise_linux_eus",
      "redhat:rhel_eus",
      "redhat:rhel_eus_long_life",
      "redhat:rhel_aus",
      "redhat:rhel_e4s",
      "redhat:rhel_els",
      "redhat:rhel_tus",
    ],
    others: ["red-hat", "red-hat-enterprise-linux", "enterprise_linux", "enterprise-linux"],
    numbers: 1,
    hasMinors: true,
    codeNames: { santiago: "6", maipo: "7", ootpa: "8", plow: "9", coughlan: "10" },
  },
  { id: "centos", type: "rpm", namespace: "centos", others: ["centos-linux"], numbers: 1 },
  {
    id: "rocky",
    type: "rpm",
    namespace: "rocky",
    cpes: ["rocky:rocky", "resf:rocky_linux"],
    others: ["rocky-linux", "rockylinux"],
    numbers: 1,
    codeNames: { "green-obsidian": "8", "blue-onyx": "9", "red-quartz": "10" },
  },
  {
    id: "almalinux",
    type: "rpm",
    namespace: "almalinux",
    cpes: ["almalinux:almalinux"],
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
  {
    id: "ol",
    type: "rpm",
    namespace: "ol",
    cpes: ["oracle:linux"],
    others: ["oracle", "oracle-linux", "oraclelinux"],
    numbers: 1,
  },
  {
    id: "amzn",
    type: "rpm",
    namespace: "amzn",
    cpes: ["amazon:linux", "amazon:linux_2"],
    others: ["amazon", "amazon-linux", "amazonlinux"],
    numbers: 1,
  },
  { id: "fedora", type: "rpm", namespace: "fedora", cpes: ["fedoraproject:fedora"], numbers: 1 },
  {
    id: "sles",
    type: "rpm",
    namespace: "suse",
    cpes: [
      "suse:sles",
      "suse:sled",
      "suse:sles_sap",
      "suse:sles-ltss",
      "suse:sle_hpc",
      "suse:suse_linux_enterprise_server",
      "suse:linux_enterprise_server",
    ],
    others: ["suse-linux-enterprise-server"],
    numbers: 2,
  },
  {
    id: "azurelinux",
    type: "rpm",
    namespace: "azurelinux",
    others: ["azure-linux"],
    cpes: ["microsoft:azure_linux"],
    numbers: 2,
  },
  {
    id: "mariner",
    type: "rpm",
    namespace: "mariner",
    others: ["cbl-mariner"],
    cpes: ["microsoft:cbl-mariner"],
    numbers: 2,
  },
  // In front of Leap, which the namespace alone means.
  {
    id: "opensuse-tumbleweed",
    type: "rpm",
    namespace: "opensuse",
    others: ["opensuse.tumbleweed"],
    cpes: ["opensuse:tumbleweed"],
    numbers: 0,
  },
  {
    id: "opensuse-leap",
    type: "rpm",
    namespace: "opensuse",
    cpes: ["opensuse:leap"],
    others: ["opensuse.leap"],
    numbers: 2,
  },
];
