/**
 * Names of people and organizations: the one place where a name is read, and taken apart where that
 * is certain. A wrong split cannot be undone by those who import a citation, so every doubtful name
 * stays whole.
 */
import { type JsonObject, type JsonValue, listOf } from "./field.js";
import { plainLine, textOf } from "./texts.js";

/** A name of one agent. */
export interface AgentName {
  /** As it is written. */
  name: string;
  /** Null where the name does not say. */
  kind: "person" | "organization" | null;
  /** Of a person whose name could be taken apart: both or neither. */
  given?: string;
  family?: string;
  /** `Jr.`, `III`: with `family` only. */
  suffix?: string;
}

/** Longest name that is taken apart, in characters. */
const MAX_NAME_CHARS = 200;
/** Characters of a list of names that are read. */
const MAX_LIST_CHARS = 10_000;
/** Most names that are read of one text. */
const MAX_NAMES = 200;

const set = (words: string): ReadonlySet<string> => new Set(words.trim().split(/\s+/));
/** Without case and diacritics, for comparison with the lists below. */
const bare = (word: string): string =>
  word
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .toLowerCase()
    .replace(/ł/g, "l")
    .replace(/ø/g, "o")
    .replace(/ß/g, "ss")
    .replace(/ı/g, "i");

/** Beginnings of words that are in names of organizations only. */
const OF_ORGANIZATIONS = new RegExp(
  `^(?:${`
  academ|agenc|agentur|aktiengesellschaft|akadem|alliance|archiv|arquivo|associa|asociaci|
  asosiasi|authorit|bibliot|biobank|bundesa|bundesi|bundesm|bureau|centre|centrum|centr[ou]$|
  clinic|clinique|collaborat|collective|comision|comissao|comitato|comit[eé]|commission|committee|
  communaut|communit|companhia|compan[iy]|compagn|confedera|congress|conseil|consejo|consiglio|
  consor[tc]i|cooperativ|corporat|council|crowdsourc|departe?ment|departament|dipartiment|
  direction|directorate|enterprise|ecole|escola|escuela|etablissement|facilit|facult|fachhochschul|
  fakult|federa|fondation|fondazione|fond[so]$|forschung|forum|foundation|fraunhofer|fundaci|
  fundacao|fundusz|gemeinschaft|gesellschaft|gmbh|gobierno|govern|groupe|gruppe|grupo|helmholtz|
  herbari|hochschul|hopita|hospital|infrastruct|initiative|institu[tc]|instytut|intezet|
  innovation|intergovernment|international|istituto|kements?erian|klinik|kliniek|klinikum|
  kommission|konsorti|krankenhaus|laborat|landesa|leibniz-|library|librar|max-planck|ministe?r|
  ministry|ministerst|municip|museu?m|museo|musee|muze|nationa|nazionale|nacional|nations$|
  netzwerk|network|nonprofit|observator|obserwator|office$|organi[sz]a|organizz|parliament|
  partnership|platform|politec|polytec|politechn|programme|projekt|projet|proyecto|publish|recherche|
  registr|repositor|research|reseau|respository|ricerca|schule|sciences?$|secretariat|sekretariat|
  servic|sociedad|societ|spital|stichting|stiftung|studio|survey|syndicat|taskforce|technolog|
  universi|univerz|univers|uniwers|uniwersytet|union$|universitat|verband|verein$|verlag|werkgroep|
  wissenschaft|working|ziekenhuis|zentrum|zentrale|zentral`.replace(/\s+/g, "")})`,
);
/** Whole words of the same kind. */
const ORGANIZATION_WORDS = set(`
  team teams group groups project projects program center network department dept division unit
  lab labs society inc incorporated ltd limited llc llp lp corp plc gmbh srl sarl oyj
  aps pty pvt sdn bhd ooo zao cnrs inserm csic csiro european royal
  federal global worldwide united republic kingdom ministry government gardens botanic botanical
  consulting solutions systems software analytics therapeutics pharmaceuticals biosciences
  genomics bioinformatics informatics sons brothers bros partners holdings industries
  data database databank datacenter datacentre open-source contributors developers maintainers
  authors editors volunteers participants investigators anonymous staff crew`);
/** Family names, too: the name is left whole where nothing else says what it is. */
const DOUBTFUL = set(`
  school college court park church bank garden press board fund trust state city county house hall
  field hill forest station station's field workshop house market chambers temple abbey castle
  science history health nature art arts culture energy water ocean climate earth space life
  medicine biology physics chemistry mathematics statistics geography geology genetics ecology
  education information language languages literature music social natural public human digital
  virtual open free new general central northern southern eastern western north south east west
  american british german french spanish italian chinese japanese canadian australian african
  asian dutch swiss swedish norwegian danish indian brazilian mexican russian
  red blue green white black cross hat street stack cloud machine brain deep meta big
  genome protein cell cells brain cancer disease food agriculture forestry fisheries weather
  google microsoft amazon apple facebook openai nvidia ibm intel wikipedia wikidata github gitlab
  unknown various several author none name user admin administrator curator owner test`);
const LEGAL = set(`
  inc inc. incorporated ltd ltd. limited llc l.l.c. llp corp corp. corporation co co. plc gmbh ag
  s.a. sa s.r.l. srl s.p.a. spa b.v. bv n.v. nv oy ab as asa pty pvt kk e.v. ev`);
/** Words that join the words of a title, not of a person's name. */
const JOINING = set(`
  of for the and in at on to with by from as & + und für fur pour et y e für im am zur zum och og en
  et des voor na dla za`);

/** A pattern that is found where one of the patterns between the spaces is. */
const anyOf = (patterns: string): RegExp =>
  new RegExp(patterns.trim().split(/\s+/).join("|"), "iu");
/** The same for a whole text, with or without a full stop. */
const whole = (patterns: string): RegExp =>
  new RegExp(String.raw`^(?:${patterns.trim().split(/\s+/).join("|")})\.?$`, "i");

/** Scripts in which the family name comes first, and names have no spaces. */
const CJK = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u;
const OTHER_ORGANIZATIONS = anyOf(String.raw`
  大学 大學 研究 学院 學院 学校 公司 学会 學會 協会 协会 協會 委員会 委员会 医院 醫院 病院 博物館 博物馆 图书馆 図書館 センター 機構 机构 中心 財団 基金 省$
  庁$ 局$ 部$ 実験 实验 チーム グループ プロジェクト 대학 연구 학교 회사 병원 협회 재단 센터 위원회 университет институт академия
  лаборатория музей центр министерство общество πανεπιστήμιο ινστιτούτο κέντρο μουσείο جامعة
  معهد مركز وزارة מכון אוניברסיט विश्वविद्यालय संस्थान มหาวิทยาลัย สถาบัน`);

const HONORIFICS = set(`
  dr dr. prof prof. professor professeur profesor doctor mr mr. mrs mrs. ms ms. mx mx. miss sir dame
  lord lady rev rev. hon hon. herr frau mme mme. mlle m. sr. sra. srta. don doña dott dott. dott.ssa
  ing ing. mag mag. phdr. phdr rndr rndr. mudr mudr. med. med h.c. habil. habil nat. rer. phil. jur.
  dipl.-ing. dipl. pd priv.-doz. univ.-prof. assoc. asst. associate assistant emeritus capt. col.
  gen. lt. sgt. maj. fr. br. dra. dra profa. profa acad. cand. lic.`);
const GENERATIONS = /^(?:jr|sr|junior|senior|ii|iii|iv|v|2nd|3rd|4th|filho|neto)\.?$/i;
const CREDENTIALS = whole(String.raw`
  ph\.?\s?d d\.?\s?phil m\.?\s?d m\.?\s?sc m\.?\s?a b\.?\s?sc b\.?\s?a m\.?\s?phil
  m\.?\s?p\.?\s?h mba dr\.?\s?p\.?\s?h sc\.?\s?d ed\.?\s?d r\.?\s?n d\.?\s?v\.?\s?m facp facs
  frs obe cbe mbe kbe frcp mbbs llm ll\.?\s?m j\.?\s?d esq csc drsc mrcp pharm\.?\s?d`);

/** Parts of family names that stand before their other words. */
const PARTICLES = set(`
  von vom zu zum zur van der den de del della dello dei degli delle di da dal dalla dos das do du des
  la le les lo los las ter ten te 't op af av d' l' dell' dall' ap o' saint st st. san santa`);
/** Particles of languages in which the parts of a name cannot be told from outside. */
const UNCERTAIN_PARTICLES = set(
  `bin bint binti ibn ben bat abu abd abdul al el ul ud ur oglu qizi a/l a/p s/o d/o dan`,
);

/**
 * Common family names of languages that write the family name first. Where one is the first word,
 * the order cannot be told.
 */
const FAMILY_FIRST = set(`
  li wang zhang liu chen yang huang zhao wu zhou xu sun ma zhu hu guo he lin gao luo zheng liang xie
  tang deng feng han cao zeng peng xiao cai pan tian dong yuan yu ye jiang du su wei cheng lu ding shen
  ren yao qian cui zou xiong qin jin tan liao dai fan fang shi qiu hou bai qi xi mao chan wong cheung
  lau leung ho ng lam kwok tsai hsu chang lee kim park choi jung jeong kang cho yoon yun jang lim shin
  seo kwon hwang ahn song hong moon nguyen tran le pham huynh hoang phan vu vo dang bui do ngo duong ly
  sato suzuki takahashi tanaka watanabe ito yamamoto nakamura kobayashi kato yoshida yamada sasaki
  yamaguchi matsumoto inoue kimura hayashi shimizu saito abe mori ikeda hashimoto murakami
  nagy kovacs toth szabo horvath varga kiss molnar nemeth farkas balogh papp takacs juhasz bartok
  kodaly neumann erdos deng xi mo cixin`);

/**
 * Common given names: they tell `Ada Lovelace, Grace Hopper` (two people) from `García Márquez,
 * Gabriel José` (one).
 */
const GIVEN_NAMES = set(`
  ada adam agnes aisha alan albert alberto alejandro alessandro alex alexander alexandra alice alicia
  amelia amy ana anders andre andrea andreas andrew angela anita ann anna anne annie anthony antonio
  anton arthur astrid aya barbara beatriz ben benjamin bernard bob boris brian bruno camille carla
  carlos carmen carol caroline catherine cecilia charles charlotte chiara chris christian christina
  christine christopher claire clara claudia claus cora cristina dan daniel daniela david deborah
  denis diana diego dmitri dmitry dora dorothy edgar eduardo edward elena elisa elisabeth elizabeth
  ella ellen emil emilia emily emma eric erik erika ernst esther eugene eva evelyn fatima federico
  felix fernando filip florence frances francesca francesco francisco frank franz fred frederic
  friedrich gabriel gabriela george gerald gerhard giovanni giulia giuseppe gloria grace greg gregory
  greta guido gustav hana hanna hannah hans harold harry heather heidi heinrich helen helena helga
  henri henrik henry hugo ian igor ilse ines ingrid irene isaac isabel isabella ivan jack jacob jacques
  jakob james jan jane janet jason javier jean jeff jennifer jens jessica joan joana joao joe johan
  johann johannes john jonas jonathan jorge jose josef joseph josephine joshua juan judith julia
  julian julie juliette jürgen jurgen kai karen karin karl karl-heinz katarina kate katherine kathleen
  kathrin kevin klaus konrad kurt lars laura lea lena leo leon leonardo lina linda lisa lorenzo louis
  louise luca lucas lucia lucy luigi luis luisa lukas magdalena manuel marc marcel marco margaret maria
  marie mario marion mark markus marta martha martin martina mary mateo matteo matthew matthias maurice
  max maximilian maya megan mei melissa michael michel michelle miguel mikael mike mila miriam mohamed
  mohammed monica nadia nancy natalia nathan nicholas nick nicola nicolas nicole niels nikolai nina
  noah nora olga oliver olivia omar oscar otto pablo pamela paola paolo patricia patrick paul paula
  pedro peter petra philip philippe pierre rachel rafael ralf raul rebecca ricardo richard rita robert
  roberto roger rolf roman rosa rosalind ruth ryan sam samuel sandra sara sarah sebastian sergei
  sergio silvia simon simone sofia sonia sophia sophie stefan stefano stella stephanie stephen steve
  steven susan susanne sven sylvia tariq teresa theodor theresa thomas tim timothy tom tomas ulrich
  ursula valentina vera veronica victor victoria vincent viktor vladimir walter wanda werner wilhelm
  william wolfgang xavier yasmin yuki yves zoe alfred rosalyn dorothea edith katherine marguerite
  niklaus edsger donald barbara tony leslie ken dennis bjarne guido linus`);

const WORD = /^[\p{L}\p{M}][\p{L}\p{M}.'’ʼ‘‐‑-]*$/u;
const INITIALS = /^(?:\p{Lu}\p{M}*\.?-?){1,4}$/u;
const isInitials = (word: string): boolean =>
  INITIALS.test(word) && (word.includes(".") || word.length <= 3);
/** A single letter, with or without a dot. */
const isInitial = (word: string): boolean =>
  /^(?:\p{Lu}\p{M}*\.)+$/u.test(word) ||
  /^\p{Lu}\p{M}*\.?$/u.test(word) ||
  /^\p{Lu}\.?-\p{Lu}\.?$/u.test(word);
/** `Lovelace`, `McClintock`, `O'Brien`, `Müller-Lüdenscheidt`, `d'Alembert`. */
/** `McDonald`, `O'Neill`, `A.`, letters of scripts without case, or a word in small letters. */
const NAME_PART = new RegExp(
  String.raw`^(?:(?:Mc|Mac|Fitz|Le|La|De|Di|Da|Du|Van|Von|San|Del|El|Al|[OD]['’ʼ‘]|[dl]['’ʼ‘])?` +
    String.raw`\p{Lu}[\p{Ll}\p{M}\p{Lo}'’ʼ‘]+\.?|\p{Lu}\.?|[\p{Lo}\p{M}]+|[\p{Ll}]{2,})$`,
  "u",
);
const isNameWord = (word: string): boolean =>
  WORD.test(word) &&
  word.split(/[‐‑-]/).every((part) => NAME_PART.test(part)) &&
  (!/^\p{Ll}/u.test(word) || /^[dl]['’ʼ‘]/.test(word));

const UUID = /^(?:urn:uuid:)?\{?[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\}?$/i;
const ORCID_TEXT =
  /(?:https?:\/\/)?(?:www\.)?(?:orcid\.org\/|orcid:?\s*)?\d{4}-\d{4}-\d{4}-\d{3}[\dX]\/?/i;
const EMAIL = /^(?:mailto:)?[^\s@<>]+@[^\s@<>]+\.[^\s@<>]+$/i;

const SCHEME = new RegExp(
  String.raw`^(?:[a-z][a-z0-9+.-]*://|(?:urn|ark|doi|hdl|swh|did|mailto|info|tag|orcid|ror|isni|_):` +
    String.raw`|#|\.{0,2}/|www\.)\S*$`,
  "i",
);

/** Whether a text identifies something and names nothing: an ORCID, a URL, an e-mail address. */
export function isIdentifier(text: string): boolean {
  const one = text.trim();
  return (
    !/[\p{L}\p{N}]/u.test(one) ||
    UUID.test(one) ||
    ORCID_TEXT.exec(one)?.[0] === one ||
    EMAIL.test(one) ||
    SCHEME.test(one) ||
    /^(?:orcid\.org|ror\.org|doi\.org|isni\.org)\/\S*$/i.test(one) ||
    /^10\.\d{4,9}\/\S+$/.test(one) ||
    /^[\d\s.,:_-]+$/.test(one) ||
    /^[0-9a-f]{32,}$/i.test(one)
  );
}

const ROLE = new RegExp(
  String.raw`\s{0,5}[([](?:collector|compiler|editor|eds?\.?|author|creator|contributor|recorder|` +
    "researcher|speaker|participant|depositor|annotator|transcriber|translator|curator|" +
    String.raw`maintainer|corresponding author|PI|principal investigator)s?[)\]]\s{0,5}$`,
  "i",
);

/** Without roles, addresses and identifiers around it: `Ada Lovelace <ada@example.org> (editor)`. */
const withoutRemarks = (text: string): string =>
  plainLine(text.replace(/<[^\s<>]*@[^\s<>]*>/g, " ").replace(/<https?:[^\s<>]*>/g, " "))
    .replace(
      new RegExp(String.raw`[\s,;]{0,5}[([]?\s{0,5}${ORCID_TEXT.source}\s*[)\]]?\s*$`, "i"),
      "",
    )
    .replace(/\s{0,5}[([](?:[^\s@()[\]]+@[^\s@()[\]]+)[)\]]\s{0,5}$/, "")
    .replace(ROLE, "")
    .replace(/^\s*(?:by|author|authors|creator|creators)\s*:\s*/i, "")
    .trim();

/** A name as it is written, of a text that may hold markup; null where it names nothing. */
function nameIn(text: string): string | null {
  const name = withoutRemarks(text);
  return name === "" || isIdentifier(name) ? null : name;
}

/** What members of an object may call an agent; the first with a name is it. */
const OTHER_NAMES = ["legalName", "alternateName", "label", "title"] as const;
const GIVEN = ["givenName", "firstName"] as const;
const FAMILY = ["familyName", "lastName", "surname"] as const;
const PREFIXES = ["", "schema:", "http://schema.org/", "https://schema.org/", "foaf:", "rdfs:"];

function member(agent: JsonObject, name: string): JsonValue | undefined {
  for (const prefix of PREFIXES) {
    const key = prefix + name;
    if (Object.hasOwn(agent, key) && textOf(agent[key]) !== null) return agent[key];
  }
  return undefined;
}

/** The first of these members that is a name. */
function nameAmong(agent: JsonObject, names: readonly string[]): string | null {
  for (const name of names) {
    const text = textOf(member(agent, name));
    const found = text === null ? null : nameIn(text);
    if (found !== null) return found;
  }
  return null;
}

/** Whether {@link nameOfAgent} finds a name, in less time. */
export const hasName = (agent: JsonObject): boolean =>
  nameAmong(agent, ["name", ...FAMILY, ...GIVEN, ...OTHER_NAMES]) !== null;

/**
 * The name of an agent that an object describes, in whatever form it is stated; undefined where
 * there is none, so that no identifier is shown in its place.
 */
export function nameOfAgent(agent: JsonObject): AgentName | undefined {
  const types = listOf(agent["@type"])
    .concat(listOf(agent["metadataType"]))
    .filter((type) => typeof type === "string")
    .join(" ");
  const read = (...names: readonly string[]): string | null => nameAmong(agent, names);
  const given = read(...GIVEN);
  const family = read(...FAMILY);
  const together = given !== null && family !== null ? `${given} ${family}` : (family ?? given);
  const found = read("name") ?? together ?? read(...OTHER_NAMES);
  if (found === null) return undefined;
  const isPerson = /\bPerson\b|Patient|IndividualPhysician/.test(types);
  if (!isPerson && ORGANIZATION_TYPES.test(types)) return { name: found, kind: "organization" };
  if (given !== null && family !== null)
    return { name: found, kind: "person", given, family, ...suffixOf(agent) };
  return nameOf(found, isPerson ? "person" : null);
}

const ORGANIZATION_TYPES =
  /Organization|Project|Consortium|Corporation|Institution|Library|Museum|Hospital|Group|Agency|NGO|School/;

function suffixOf(agent: JsonObject): { suffix?: string } {
  const suffix = textOf(member(agent, "honorificSuffix"));
  return suffix !== null && GENERATIONS.test(suffix) ? { suffix } : {};
}

/** The names in one text: `Ada Lovelace; Grace Hopper` has two. */
export function namesIn(text: string): AgentName[] {
  const most =
    text.length <= MAX_LIST_CHARS
      ? text.length
      : text.lastIndexOf(text.includes(";") ? ";" : ",", MAX_LIST_CHARS);
  return splitNames(withoutRemarks(text.slice(0, most < 1 ? MAX_LIST_CHARS : most)))
    .slice(0, MAX_NAMES)
    .flatMap((one) => {
      const name = nameIn(one);
      return name === null ? [] : [nameOf(name, null)];
    });
}

const isPerson = (text: string): boolean => {
  const { kind, family } = nameOf(text, null);
  return kind === "person" && family !== undefined;
};

function splitNames(text: string): string[] {
  const pieces = text.split(/\s*[;\n|•]\s*/).filter((piece) => piece !== "");
  if (pieces.length > 1) return pieces.flatMap(splitNames);
  if (looksLikeOrganization(text)) return [text];
  // `Lovelace, A., Hopper, G., & Turing, A. M.`
  const inverted =
    /^(?:[^,]{2,60},\s*(?:\p{Lu}\p{M}*\.?[\s-]?){1,4}(?:,?\s*(?:&|and)\s+|,\s*|$)){2,}$/u;
  if (inverted.test(text)) {
    const found = Array.from(
      text.matchAll(
        /([^,]{2,60}),\s*((?:\p{Lu}\p{M}*\.?[\s-]?){1,4})(?:,?\s*(?:&|and)\s+|,\s*|$)/gu,
      ),
      ([, family = "", given = ""]) => `${family.trim()}, ${given.trim()}`,
    );
    if (found.every(isPerson)) return found;
  }
  const joined = text.split(/\s*,?\s+(?:and|&|und|et|y)\s+/);
  // `Lovelace, Ada and Hopper, Grace`, as BibTeX writes names.
  if (
    joined.length > 1 &&
    joined.every((one) => /^[^,]+,[^,]+$/.test(one)) &&
    joined.every(isPerson)
  )
    return joined;
  const listed = joined.flatMap((one) => one.split(/\s*,\s*/)).filter((one) => one !== "");
  if (listed.length < 2 || !listed.every((one) => isPerson(one) || isVancouver(one))) return [text];
  if (listed.length > 2 || joined.length > 1) return listed;
  // Two names, or a family name of several words and its given names.
  const known = listed.map((one) => isGivenName(firstWord(one)));
  return (known[0] && known[1]) || listed.every((one) => isVancouver(one)) ? listed : [text];
}

/** The first word of a text, and the first or last of some words; empty where there is none. */
const firstWord = (text: string): string => text.replace(/\s.*/s, "");
const firstOf = ([first = ""]: readonly string[]): string => first;
const lastOf = (words: readonly string[]): string => words.at(-1) ?? "";

const isGivenName = (word: string): boolean =>
  isInitial(word) || word.split(/[-‐]/).some((part) => GIVEN_NAMES.has(bare(part)));
/** `Lovelace A`, as PubMed writes names. */
const isVancouver = (name: string): boolean => /^\p{Lu}[\p{L}\p{M}'’ -]+\s\p{Lu}{1,3}$/u.test(name);

/** What the words of a name say of it. */
function looksLikeOrganization(name: string): boolean {
  if (OTHER_ORGANIZATIONS.test(name)) return true;
  // `Ada Lovelace (Analytical Society)`: the name stands before.
  const words = name
    .replace(/(?<=\S\s)\([^()]*\)/g, "")
    .split(/[\s,/()]+/)
    .filter((word) => word !== "");
  const last = lastOf(words);
  // Two capitals may be initials: `Smith AG`.
  if (
    words.length > 1 &&
    LEGAL.has(bare(last)) &&
    !GENERATIONS.test(last) &&
    !/^\p{Lu}{2}$/u.test(last)
  )
    return true;
  return words.some((word) => {
    const plain = bare(word).replace(/['’]s$/, "");
    return (
      (words.length > 1 && ORGANIZATION_WORDS.has(plain.replace(/[.]/g, ""))) ||
      OF_ORGANIZATIONS.test(plain) ||
      /.(?:museum|institut|universitat|bibliothek|zentrum|gesellschaft|verein|stiftung)$/.test(
        plain,
      )
    );
  });
}

/**
 * One name: its kind, and its parts where they are certain.
 * @param stated what the type of the agent says
 */
export function nameOf(name: string, stated: "person" | "organization" | null): AgentName {
  if (stated === "organization") return { name, kind: "organization" };
  // `Adam Hospital`, stated as a person.
  const isNamed = stated === "person" && /^\S+ \S+$/.test(name) && isGivenName(firstWord(name));
  if (!isNamed && looksLikeOrganization(name)) return { name, kind: "organization" };
  const whole: AgentName = { name, kind: stated };
  if (name.length > MAX_NAME_CHARS || /\d|[@#/\\:;!?%*=+[\]{}<>|"“”„()&]/.test(name)) return whole;
  if (/\bet\s+al\b/i.test(name)) return whole;
  const parts = CJK.test(name) ? partsOfCjk(name) : partsOf(name, stated !== null);
  return parts === undefined ? whole : { name, kind: "person", ...parts };
}

type Parts = Required<Pick<AgentName, "given" | "family">> & Pick<AgentName, "suffix">;

/** `山田 太郎`: the family name comes first. Without a space it stays whole. */
function partsOfCjk(name: string): Parts | undefined {
  const words = name.split(/[\s、,，]+/);
  const [family, given] = words;
  const isName = (word: string | undefined, most: number): word is string =>
    word !== undefined &&
    Array.from(word).length <= most &&
    /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}々ー]+$/u.test(word);
  return words.length === 2 && isName(family, 4) && isName(given, 4)
    ? { family, given }
    : undefined;
}

function partsOf(name: string, isPerson: boolean): Parts | undefined {
  const pieces = name.split(/\s*,\s*/);
  // `Jane Doe, PhD`, `Martin Luther King, Jr.`
  let suffix: string | undefined;
  while (pieces.length > 1) {
    const last = lastOf(pieces);
    if (GENERATIONS.test(last)) suffix = last;
    else if (!last.split(/\s+/).every((word) => CREDENTIALS.test(word))) break;
    pieces.pop();
  }
  const more = suffix === undefined ? {} : { suffix };
  if (pieces.length === 2) {
    const inverted = invertedParts(pieces as [string, string]);
    return inverted && { ...inverted, ...more };
  }
  if (pieces.length !== 1) return undefined;
  const words = firstOf(pieces).split(/\s+/);
  const titled = words.length;
  while (words.length > 1 && HONORIFICS.has(firstOf(words).toLowerCase())) words.shift();
  const hasTitle = words.length < titled;
  while (words.length > 2 && CREDENTIALS.test(lastOf(words)) && !isInitial(lastOf(words)))
    words.pop();
  if (words.length > 2 && GENERATIONS.test(lastOf(words)) && !/^[IV]$/.test(lastOf(words))) {
    more.suffix = lastOf(words);
    words.pop();
  }
  const found = orderedParts(
    words,
    isPerson || hasTitle || more.suffix !== undefined,
    more.suffix !== undefined,
  );
  return found && { ...found, ...more };
}

/** `Lovelace, Ada`, `de la Cruz, María`: the writer says which is which. */
function invertedParts([family, given]: [string, string]): Parts | undefined {
  const isFamily = family
    .split(/\s+/)
    .every(
      (word) => PARTICLES.has(word.toLowerCase()) || (isFamilyWord(word) && !JOINING.has(word)),
    );
  const givens = given.split(/\s+/);
  const isGiven =
    givens.every(
      (word, index) =>
        isInitials(word) || isNameWord(word) || (index > 0 && PARTICLES.has(word.toLowerCase())),
    ) &&
    (isInitials(firstOf(givens)) || isNameWord(firstOf(givens)));
  const [families, count] = [family.split(/\s+/).length, givens.length];
  if (!isFamily || !isGiven || families > 4 || count > 4) return undefined;
  if (
    [...family.split(/\s+/), ...givens].some(
      (word) => DOUBTFUL.has(bare(word)) && givens.length > 1,
    )
  )
    return undefined;
  // Two people: `Ada Lovelace, Grace Hopper`; and one whose order cannot be told.
  const second = givens.filter((word) => !isInitials(word)).length;
  const isDoubtful =
    families > 1 &&
    second > 1 &&
    !PARTICLES.has(firstWord(family).toLowerCase()) &&
    (isGivenName(firstWord(family)) || !isGivenName(firstOf(givens)));
  return isDoubtful ? undefined : { family, given };
}

const isFamilyWord = (word: string): boolean =>
  isNameWord(word) || /^\p{Lu}[\p{Lu}\p{M}'’-]+$/u.test(word);

/** Words in the order in which they are spoken. */
function orderedParts(
  words: readonly string[],
  isPerson: boolean,
  isWestern: boolean,
): Parts | undefined {
  if (words.length < 2 || words.length > 7) return undefined;
  const last = lastOf(words);
  if (/^\p{Lu}{1,3}$/u.test(last) && words.length < 5)
    return familyThenInitials(words.slice(0, -1), last);
  const first = startOfFamily(words);
  const [givens, families] = [words.slice(0, first), words.slice(first)];
  const isMarked = families.length === 1 && marksFamily(givens, last);
  if (!(isMarked || isNameWord(last)) || isInitial(last)) return undefined;
  if (!givens.every((word) => isInitial(word) || isNameWord(word))) return undefined;
  if (hasOtherWords(words, isPerson)) return undefined;
  const full = givens.filter((word) => !isInitial(word));
  const hasParticle = families.length > 1;
  const isCertain = hasParticle || isWestern || isMarked || isKnownOrder(givens, full, last);
  if (!isCertain || full.length > 2) return undefined;
  if (!hasParticle && FAMILY_FIRST.has(bare(firstOf(givens))) && !isGivenName(firstOf(givens)))
    return undefined;
  return { given: givens.join(" "), family: families.join(" ") };
}

/** `Marie CURIE`: capitals mark the family name. */
const marksFamily = (givens: readonly string[], last: string): boolean =>
  /^\p{Lu}[\p{Lu}'’-]{2,}$/u.test(last) &&
  givens.every((word) => /^\p{Lu}[\p{Ll}\p{M}-]/u.test(word)) &&
  isGivenName(firstOf(givens));

/** `Lovelace A`, `van der Berg AB`. */
function familyThenInitials(family: readonly string[], initials: string): Parts | undefined {
  if (LEGAL.has(initials.toLowerCase())) return undefined;
  const isFamily = family.every((word) => isNameWord(word) || PARTICLES.has(word));
  return isFamily && !family.some(isInitial) && !family.some((word) => DOUBTFUL.has(bare(word)))
    ? { family: family.join(" "), given: initials }
    : undefined;
}

/** Where the family name begins: at its last word, or at the particles before it. */
function startOfFamily(words: readonly string[]): number {
  let first = words.length - 1;
  for (; first > 1; first--) {
    const before = words[first - 1];
    if (before === undefined || !PARTICLES.has(before.toLowerCase()) || isInitial(before)) break;
  }
  return first;
}

/** Words that are in no name, or in names whose order is not known. */
function hasOtherWords(words: readonly string[], isPerson: boolean): boolean {
  return (
    words.slice(1).some((word) => UNCERTAIN_PARTICLES.has(bare(word)) && !isInitial(word)) ||
    words.some((word) => JOINING.has(word)) ||
    (!isPerson && words.some((word) => DOUBTFUL.has(bare(word)))) ||
    /d[oó]ttir$/i.test(lastOf(words))
  );
}

/**
 * Whether only the last word can be the family name: which of several words begin it differs from
 * language to language.
 * @param full the given names that are not initials
 */
function isKnownOrder(givens: readonly string[], full: readonly string[], last: string): boolean {
  if (full.length === 0) return true;
  const isOnlyGiven =
    givens.length === 1 || isInitial(lastOf(givens)) || isInitial(firstOf(givens));
  if (full.length === 1 && isOnlyGiven) return true;
  return full.every(isGivenName) && !IBERIAN.test(last);
}

/** Family names of languages in which people have two of them. */
const IBERIAN = /(?:ez|es|az|oz|iz|[oa]s|ão|inho|ieira|eira|eiro|ero|era|illo|ía|aldo)$/u;
