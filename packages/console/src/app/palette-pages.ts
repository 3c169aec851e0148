import { allPages } from "./nav.ts";

/** Something that the palette can do, by name. */
interface Action {
  label: string;
  detail: string;
  to: string;
  /** Other words that people look for it by, in small letters. */
  words: string;
}

/** What can be done from anywhere: each leads to the page that does it. */
const ACTIONS: readonly Action[] = [
  {
    label: "Create a personal token",
    detail: "for docker, npm, pip",
    to: "/profile/tokens",
    words: "password login pat",
  },
  { label: "Invite people", detail: "by a link", to: "/access/invites", words: "user member add invite" },
  { label: "Add a machine", detail: "for CI", to: "/access/machines", words: "robot service account token bot new" },
  {
    label: "Create a pull token",
    detail: "for clusters",
    to: "/access/pull-tokens",
    words: "robot deploy imagepullsecret",
  },
  {
    label: "Create a webhook",
    detail: "on events",
    to: "/events/subscriptions/new",
    words: "subscription notification hook",
  },
  { label: "Write an advisory", detail: "and VEX", to: "/advisories", words: "vex false positive not affected" },
  {
    label: "Create a group",
    detail: "for images and people",
    to: "/access/groups",
    words: "folder team project organization",
  },
  { label: "Add a feed", detail: "of vulnerability data", to: "/operations/feeds", words: "scanner osv kev epss data" },
  {
    label: "Check access",
    detail: "who may do what",
    to: "/access/explain",
    words: "denied permission why explain right",
  },
  {
    label: "Sign out other browsers",
    detail: "end sessions",
    to: "/profile/sessions",
    words: "log out revoke session device",
  },
];

const PROFILE = [
  { to: "/profile", label: "Profile", place: "Account", words: "passkey password account me authenticator" },
  { to: "/profile/tokens", label: "Personal tokens", place: "Account", words: "token pat password docker login" },
  { to: "/profile/sessions", label: "Your sessions", place: "Account", words: "signed in browsers devices log out" },
];

/** A page or an action that the words ask for. */
export interface Found {
  label: string;
  detail: string;
  to: string;
}

/** The pages that all of the words ask for: in their name first, then in the words that stand for the same. */
export function findPages(text: string): Found[] {
  return byWords(
    text,
    [...allPages(), ...PROFILE].map(({ to, label, place, words = "" }) => ({ to, label, detail: place, words })),
  );
}

/** The actions that all of the words ask for. */
export function findActions(text: string): Found[] {
  return byWords(text, ACTIONS);
}

function byWords(text: string, all: readonly Action[]): Found[] {
  const wanted = text
    .toLowerCase()
    .split(" ")
    .filter((word) => word !== "");
  const scored = all.map((each) => ({ each, score: scoreOf(each, wanted) })).filter(({ score }) => score > 0);
  return scored
    .toSorted((one, other) => other.score - one.score)
    .map(({ each: { label, detail, to } }) => ({ label, detail, to }));
}

/** 0 for what lacks a word; the more, the nearer to the start of the name. */
function scoreOf({ label, detail, words }: Action, wanted: readonly string[]): number {
  const name = label.toLowerCase();
  const rest = ` ${detail.toLowerCase()} ${words}`;
  let score = 1;
  for (const word of wanted) {
    if (name.startsWith(word)) score += 3;
    else if (name.includes(` ${word}`)) score += 2;
    else if (rest.includes(` ${word}`) || rest.includes(` ${singular(word)}`)) score += 1;
    else return 0;
  }
  return score;
}

/** `webhook` of `webhooks`: names are in the plural here and in the singular there. */
function singular(word: string): string {
  return word.length > 3 && word.endsWith("s") ? word.slice(0, -1) : word;
}
