import { packageKey } from "../matching/package-keys.ts";
import { type FeedDefinition, FeedDefinitionError } from "./definition.ts";
import { ALL_LANGUAGES, presetsOfWords } from "./preset-words.ts";

// Feeds that are known by name: where they are published, under which license, and what they cover. Nothing of it is
// fetched until an operator has added it.

/** A feed that can be added by its name alone. */
export interface FeedPreset extends Pick<FeedDefinition, "name" | "format" | "address" | "licence" | "intervalMs"> {
  /** What it is, for people. */
  title: string;
  /** The ecosystems whose packages its records are about, as OSV names them; of CVEs or products there are none. */
  ecosystems: readonly string[];
  /** What of an image it says something about, in one line. */
  covers: string;
}

/** A word of a command line that means several presets, and those that it means. */
export interface PresetGroup {
  name: string;
  title: string;
  presets: readonly string[];
}

const HOUR_MS = 3_600_000;
const OSV = "https://osv-vulnerabilities.storage.googleapis.com";

interface OsvSource {
  ecosystem: string;
  /** Without one it is `osv-` and the ecosystem. */
  name?: string;
  licence: string;
  covers: string;
}

// Source of licenses: https://google.github.io/osv.dev/data/, and the pages of the databases that it links.
const LANGUAGES: readonly OsvSource[] = [
  { ecosystem: "npm", licence: "CC-BY-4.0 (GitHub), Apache-2.0 (OpenSSF)", covers: "packages of npm" },
  { ecosystem: "PyPI", licence: "CC-BY-4.0 (PyPA, GitHub), Apache-2.0 (OpenSSF)", covers: "packages of PyPI" },
  { ecosystem: "Maven", licence: "CC-BY-4.0 (GitHub)", covers: "packages of Maven" },
  { ecosystem: "Go", licence: "CC-BY-4.0 (Go, GitHub)", covers: "Go modules, and Go's standard library" },
  { ecosystem: "crates.io", licence: "CC0-1.0 (RustSec), CC-BY-4.0 (GitHub)", covers: "crates of Rust" },
  { ecosystem: "NuGet", licence: "CC-BY-4.0 (GitHub)", covers: "packages of NuGet" },
  { ecosystem: "Packagist", licence: "CC-BY-4.0 (GitHub)", covers: "packages of Composer" },
  { ecosystem: "RubyGems", licence: "CC-BY-4.0 (GitHub)", covers: "gems of Ruby" },
  { ecosystem: "Hex", licence: "CC-BY-4.0 (GitHub)", covers: "packages of Erlang and Elixir" },
  { ecosystem: "Pub", licence: "CC-BY-4.0 (GitHub)", covers: "packages of Dart" },
  { ecosystem: "SwiftURL", licence: "CC-BY-4.0 (GitHub)", covers: "packages of Swift" },
  { ecosystem: "CRAN", licence: "Apache-2.0 (R Consortium)", covers: "packages of R" },
];

const DISTRIBUTIONS: readonly OsvSource[] = [
  { name: "debian", ecosystem: "Debian", licence: "not stated by its source", covers: "packages of Debian" },
  { name: "ubuntu", ecosystem: "Ubuntu", licence: "CC-BY-SA-4.0", covers: "packages of Ubuntu, those of Pro as well" },
  { name: "alpine", ecosystem: "Alpine", licence: "CC-BY-SA-4.0", covers: "packages of Alpine's releases" },
  { name: "redhat", ecosystem: "Red Hat", licence: "CC-BY-4.0", covers: "packages of Red Hat Enterprise Linux" },
  { name: "rocky", ecosystem: "Rocky Linux", licence: "BSD", covers: "packages of Rocky Linux" },
  { name: "alma", ecosystem: "AlmaLinux", licence: "MIT", covers: "packages of AlmaLinux" },
  { name: "wolfi", ecosystem: "Wolfi", licence: "not stated by its source", covers: "packages of Wolfi" },
  {
    name: "chainguard",
    ecosystem: "Chainguard",
    licence: "not stated by its source",
    covers: "packages of Chainguard",
  },
];

const OTHERS: readonly FeedPreset[] = [
  {
    name: "kev",
    title: "Known Exploited Vulnerabilities, by CISA",
    format: "kev",
    address: "https://www.cisa.gov/sites/default/files/feeds/known_exploited_vulnerabilities.json",
    licence: "CC0-1.0",
    intervalMs: 12 * HOUR_MS,
    ecosystems: [],
    covers: "CVEs that are known to be exploited, in any package; finds nothing by itself",
  },
  {
    name: "epss",
    title: "Exploit Prediction Scoring System, by FIRST",
    format: "epss",
    address: "https://epss.empiricalsecurity.com/epss_scores-current.csv.gz",
    licence: "free to use; name EPSS of FIRST as the source (https://www.first.org/epss)",
    intervalMs: 24 * HOUR_MS,
    ecosystems: [],
    covers: "how probable it is that a CVE will be exploited, in any package; finds nothing by itself",
  },
  {
    name: "endoflife",
    title: "Ends of life of products, by endoflife.date",
    format: "endoflife",
    address: "https://endoflife.date/api/v1/products/full",
    licence: "MIT",
    intervalMs: 24 * HOUR_MS,
    ecosystems: [],
    covers: "when the releases of products and distributions reach their end of life",
  },
];

/** A preset for each source whose packages are matched here. */
const ofOsv = (sources: readonly OsvSource[]): FeedPreset[] =>
  sources
    .filter(({ ecosystem }) => RELEASES.some((release) => packageKey({ ecosystem: ecosystem + release, name: "a/a" })))
    .map(({ ecosystem, name = `osv-${ecosystem.toLowerCase()}`, licence, covers }) => ({
      name,
      title: `${ecosystem}, by OSV`,
      format: "osv",
      address: `${OSV}/${encodeURIComponent(ecosystem)}/all.zip`,
      licence,
      intervalMs: 6 * HOUR_MS,
      ecosystems: [ecosystem],
      covers,
    }));

// Of a distribution packages are known by a release: one of each that any of them has.
const RELEASES = ["", ":12", ":24.04", ":v3.20", ":enterprise_linux:9"];

const OF_LANGUAGES = ofOsv(LANGUAGES);

/** All presets. */
export const FEED_PRESETS: readonly FeedPreset[] = [...OF_LANGUAGES, ...ofOsv(DISTRIBUTIONS), ...OTHERS];

/** The words that mean several. */
export const PRESET_GROUPS: readonly PresetGroup[] = [
  {
    name: ALL_LANGUAGES,
    title: "the packages of all languages, by OSV; or of those that follow, as in: osv npm PyPI",
    presets: OF_LANGUAGES.map(({ name }) => name),
  },
];

/** The presets that words of a command line mean: see presetsOfWords. Throws a FeedDefinitionError. */
export function presetsNamed(words: readonly string[]): FeedPreset[] {
  try {
    return presetsOfWords(words, FEED_PRESETS);
  } catch (error) {
    throw new FeedDefinitionError((error as Error).message);
  }
}

/** The address of a preset, or where a mirror has it: below the URL of the mirror, under the same path. */
export function presetAddress({ address }: Pick<FeedPreset, "address">, mirror: string): string {
  return mirror === "" ? address : `${mirror.replace(/\/$/, "")}${new URL(address).pathname}`;
}
