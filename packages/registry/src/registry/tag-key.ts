/**
 * By what commands and cached answers name a tag of the repo with that uid: a command changes or reads what it points to
 * and its history, an answer was made from them (CommandOptions of core/command.ts).
 */
export function tagKey(repo: string, tag: string): string {
  return `tag ${repo}/${tag}`;
}
