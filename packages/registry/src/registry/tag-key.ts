/**
 * By what commands and cached answers name a tag of the repo with that uid, with its history: a command changes it, an
 * answer was made from it (CommandOptions of core/command.ts).
 */
export function tagKey(repo: string, tag: string): string {
  return `tag ${repo}/${tag}`;
}
