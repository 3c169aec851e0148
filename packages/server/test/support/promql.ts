/** The metrics of an expression of PromQL, each with the labels that are asked of it. */
export interface Selector {
  metric: string;
  labels: string[];
}

const WORDS = new Set(["and", "or", "unless", "by", "on", "without", "ignoring", "group_left", "offset", "bool"]);

/**
 * The metrics that an expression names, with the labels of their matchers; and the labels by which it groups. Only what
 * dashboards and rules use is understood: names are what is neither a function, a word of the language nor in a list of
 * labels.
 */
export function namesIn(expression: string): { selectors: Selector[]; grouping: string[] } {
  const grouping: string[] = [];
  const withoutLists = expression.replace(/\b(?:by|on|without|ignoring)\s*\(([^)]*)\)/g, (_, list: string) => {
    grouping.push(...list.split(",").map((label) => label.trim()));
    return " ";
  });
  const texts: string[] = [];
  const bare = withoutLists.replace(/"(?:[^"\\]|\\.)*"/g, (text) => `"${texts.push(text) - 1}"`);
  const selectors: Selector[] = [];
  for (const match of bare.matchAll(/(?<![\w$[."])([a-zA-Z_:][\w:]*)(?:\{([^}]*)\})?\s*(\(?)/g)) {
    const [, metric = "", matchers = "", opened] = match;
    const isInside = bare.slice(0, match.index).lastIndexOf("{") > bare.slice(0, match.index).lastIndexOf("}");
    if (opened === "(" || WORDS.has(metric) || isInside) continue;
    const labels = matchers.split(",").flatMap((matcher) => /^\s*(\w+)\s*[=!]/.exec(matcher)?.[1] ?? []);
    selectors.push({ metric, labels });
  }
  return { selectors, grouping };
}
