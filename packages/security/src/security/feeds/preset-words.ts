// Words of a command line that mean presets. Commands for a server elsewhere load this file and nothing else of this
// area: the presets are those of that server.

/** What is known of a preset by which words find it. */
export interface NamedPreset {
  readonly name: string;
  /** The ecosystems whose packages it is about, as OSV names them. */
  readonly ecosystems: readonly string[];
}

/** The word that means the presets of all languages, and what their names begin with. */
export const ALL_LANGUAGES = "osv";

/**
 * The presets that words mean, each once: the name of a preset or an ecosystem, or `osv` for those of all languages.
 * After `osv` ecosystems of languages say which of these are meant, and `all` that all are. Throws an Error for a word
 * that means none.
 */
export function presetsOfWords<Preset extends NamedPreset>(
  words: readonly string[],
  presets: readonly Preset[],
): Preset[] {
  const found = new Set<Preset>();
  const languages = presets.filter(({ name }) => name.startsWith(`${ALL_LANGUAGES}-`));
  const named = (among: readonly Preset[], word = ""): Preset | undefined => among.find(isNamed(word.toLowerCase()));
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] ?? "";
    if (word.toLowerCase() !== ALL_LANGUAGES) {
      found.add(named(presets, word) ?? unknown(word, presets));
      continue;
    }
    const chosen: Preset[] = [];
    for (let next = named(languages, words[at + 1]); next !== undefined; next = named(languages, words[at + 1])) {
      chosen.push(next);
      at += 1;
    }
    const isAll = words[at + 1]?.toLowerCase() === "all";
    if (isAll) at += 1;
    for (const each of chosen.length === 0 || isAll ? languages : chosen) found.add(each);
  }
  return [...found];
}

const isNamed =
  (word: string) =>
  ({ name, ecosystems }: NamedPreset): boolean =>
    name === word || ecosystems.some((each) => each.toLowerCase() === word);

function unknown(word: string, presets: readonly NamedPreset[]): never {
  const names = [ALL_LANGUAGES, ...presets.map(({ name }) => name)].join(", ");
  throw new Error(`there is no preset ${word}: there are ${names}; a feed of your own needs --format and --licence`);
}
