//===- Tuner.cpp - Finding the best schedules -----------------------------===//
//
// Part of evoformer-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evoformer/Tuning/Tuner.h"
#include "Evoformer/Driver/DeferredKernels.h"
#include "Evoformer/Target/Targets.h"
#include "Evoformer/Tuning/Candidates.h"
#include "Evoformer/Tuning/LaunchModel.h"
#include "KernelStore.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/ThreadPool.h"
#include <atomic>
#include <chrono>
#include <map>

using namespace mlir;
using namespace mlir::evoformer;
using namespace mlir::evoformer::runtime;
using llvm::createStringError;
using llvm::Error;
using llvm::Expected;

StringRef mlir::evoformer::stringifyTrialState(TrialState state) {
  static constexpr StringLiteral names[] = {"refused", "known",    "failed",
                                            "skipped", "modelled", "measured"};
  return names[unsigned(state)];
}

namespace {
/// A launch of a program that is known by its kernel's text.
struct TrialLaunch {
  std::string name;
  KernelText text;
  uint64_t workItems;

  bool operator==(const TrialLaunch &other) const {
    return text == other.text && workItems == other.workItems;
  }
};

/// A trial and its program.
struct TrialRun {
  Trial trial;
  std::unique_ptr<CaseRunner> runner;
  std::vector<TrialLaunch> launches;
  /// Cycles and microseconds of each launch.
  std::vector<double> cycles, times;
};

class Tuner {
public:
  Tuner(const AttentionCase &problem, Device *device,
        const TuneOptions &options, raw_ostream &progress)
      : problem(problem), shape(getShape(problem)), device(device),
        options(options), progress(progress),
        store(this->options.compile, options.threads, device),
        memory(std::make_shared<CaseMemory>()),
        start(std::chrono::steady_clock::now()) {}

  Expected<TuningResult> run();

private:
  Error findTarget();
  void listTrials();
  void lowerAll();
  void lower(TrialRun &run, MLIRContext &own);
  void dropKnown();
  void compileAll();
  void model(TrialRun &run);
  Error measureBest();
  Error measure(TrialRun &run);
  Error check(TrialRun &run);
  Expected<std::vector<KernelInfo>> makeKernels(StringRef tiles,
                                                ArrayRef<std::string> symbols);
  Expected<std::vector<TrialLaunch>>
  list(CaseRunner &runner, MLIRContext &context, const AttentionCase &problem);
  Trial::Cost compare(const TrialRun &run,
                      std::vector<double> TrialRun::*costs);
  void attempt(TrialRun &run);
  const Trial *findBest(StringRef kernel, bool &isTried);
  void findBest(TuningResult &result);
  void describeDefault(TuningResult &result);
  TrialRun &addTogether(const std::string &schedules);

  double getSeconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() -
                                         start)
        .count();
  }
  bool isOver() const {
    return options.budget > 0 && getSeconds() > options.budget;
  }
  /// What lists programs where there is none: nothing is run on it.
  Device &getDevice() { return device ? *device : *placeholder; }
  TrialRun &getDefault() { return *runs.front(); }

  AttentionCase problem;
  ProblemShape shape;
  Device *device;
  std::unique_ptr<Device> placeholder;
  TuneOptions options;
  raw_ostream &progress;
  KernelStore store;
  std::shared_ptr<CaseMemory> memory;
  std::chrono::steady_clock::time_point start;
  /// Of what is parsed here; those of programs are their threads'.
  std::unique_ptr<MLIRContext> context;
  std::vector<std::unique_ptr<MLIRContext>> contexts;
  tile::TargetAttr target;
  std::vector<std::unique_ptr<TrialRun>> runs;
};
} // namespace

static std::unique_ptr<MLIRContext> makeContext() {
  DialectRegistry registry;
  registerForCompilation(registry);
  return std::make_unique<MLIRContext>(registry,
                                       MLIRContext::Threading::DISABLED);
}

/// The first line of a message, without the program behind it.
static std::string shorten(Error error) {
  std::string text = toString(std::move(error));
  StringRef line = StringRef(text).split('\n').first;
  line.consume_front("does not compile: ");
  return line.str();
}

Error Tuner::findTarget() {
  context = makeContext();
  ErrorText problems(context.get());
  FailureOr<tile::TargetAttr> found =
      tile::getTarget(UnknownLoc::get(context.get()), options.compile.target);
  if (succeeded(found))
    found = tile::chooseProducts(UnknownLoc::get(context.get()), *found,
                                 options.compile.f32Products);
  if (failed(found))
    return problems.take("the target is unknown");
  target = *found;
  // The form of the code without a device: what one would take.
  if (!device)
    options.compile.device =
        target.getTriple().starts_with("nvptx") ? "cuda" : "hip";
  options.compile.schedules.clear();
  if (target.isCPU())
    return createStringError("kernels of the target 'cpu' have no schedules to "
                             "choose from; give that of a GPU");
  return Error::success();
}

static Type getElementType(MLIRContext *context, ElementType type) {
  Builder builder(context);
  return type == ElementType::F32    ? Type(builder.getF32Type())
         : type == ElementType::BF16 ? Type(builder.getBF16Type())
                                     : Type(builder.getF16Type());
}

void Tuner::listTrials() {
  auto add = [&](StringRef kernel, std::string schedule) {
    runs.push_back(std::make_unique<TrialRun>());
    runs.back()->trial.kernel = kernel.str();
    runs.back()->trial.schedule = std::move(schedule);
  };
  add("all", "");
  for (const std::string &kernel : options.kernels)
    if (kernel == "attention" || problem.backward)
      for (std::string &schedule :
           listCandidates(kernel, target,
                          getElementType(context.get(), problem.type), shape))
        add(kernel, std::move(schedule));
}

Expected<std::vector<KernelInfo>>
Tuner::makeKernels(StringRef tiles, ArrayRef<std::string> symbols) {
  auto texts = getKernelTexts(*context, tiles, symbols);
  if (!texts)
    return texts.takeError();
  store.compile(*texts);
  std::vector<KernelInfo> infos;
  for (const KernelText &text : *texts) {
    Expected<const KernelInfo *> info = store.get(text);
    if (!info)
      return info.takeError();
    infos.push_back(**info);
  }
  return infos;
}

Expected<std::vector<TrialLaunch>> Tuner::list(CaseRunner &runner,
                                               MLIRContext &context,
                                               const AttentionCase &problem) {
  auto launches = runner.listLaunches(problem, /*compiles=*/false);
  if (!launches)
    return launches.takeError();
  std::vector<std::string> symbols;
  for (const CaseLaunch &launch : *launches)
    symbols.push_back(launch.kernel->symbol);
  std::vector<TrialLaunch> result;
  if (symbols.empty())
    return result;
  auto texts = getKernelTexts(
      context, launches->front().kernel->object->contents, symbols);
  if (!texts)
    return texts.takeError();
  for (auto [launch, text] : llvm::zip_equal(*launches, *texts))
    result.push_back({launch.kernel->name, std::move(text), launch.workItems});
  return result;
}

void Tuner::lower(TrialRun &run, MLIRContext &own) {
  CompileOptions compile = options.compile;
  Trial &trial = run.trial;
  if (!trial.schedule.empty())
    compile.schedule = trial.kernel == "all"
                           ? trial.schedule
                           : trial.kernel + ":v1:" + trial.schedule;
  run.runner = std::make_unique<CaseRunner>(own, getDevice(), compile,
                                            options.guardBytes);
  run.runner->memory = memory;
  run.runner->referenceThreads = options.threads;
  run.runner->makeKernels = [this](StringRef tiles,
                                   ArrayRef<std::string> symbols) {
    return makeKernels(tiles, symbols);
  };
  auto launches = list(*run.runner, own, problem);
  if (!launches) {
    trial.state = TrialState::Refused;
    trial.note = shorten(launches.takeError());
    return;
  }
  run.launches = std::move(*launches);
}

void Tuner::lowerAll() {
  if (runs.size() > 1)
    progress << llvm::formatv("{0} schedules of {1} for {2}\n", runs.size() - 1,
                              llvm::join(options.kernels, ", "),
                              options.compile.target);
  llvm::ThreadPoolStrategy strategy =
      llvm::hardware_concurrency(options.threads);
  // More would only cost: systems refuse threads before programs do.
  constexpr size_t kMostThreads = 1024;
  size_t numThreads = std::min(
      {size_t(strategy.compute_thread_count()), runs.size(), kMostThreads});
  std::atomic<size_t> next{0};
  llvm::DefaultThreadPool pool(llvm::hardware_concurrency(numThreads));
  for (size_t i = 0; i < numThreads; ++i)
    contexts.push_back(makeContext());
  for (std::unique_ptr<MLIRContext> &own : contexts)
    pool.async([&] {
      for (size_t i; (i = next.fetch_add(1)) < runs.size();)
        if (i == 0 || !isOver())
          lower(*runs[i], *own);
        else
          runs[i]->trial.note = "the budget was spent";
    });
  pool.wait();
}

void Tuner::dropKnown() {
  std::vector<const TrialRun *> distinct;
  for (std::unique_ptr<TrialRun> &run : runs) {
    if (run->launches.empty())
      continue;
    auto known = llvm::find_if(distinct, [&](const TrialRun *other) {
      return other->launches == run->launches;
    });
    if (known == distinct.end()) {
      distinct.push_back(run.get());
      continue;
    }
    run->trial.state = TrialState::Known;
    StringRef other = (*known)->trial.schedule;
    run->trial.note =
        ("launches what " + (other.empty() ? "the default" : other) + " does")
            .str();
    run->launches.clear();
    run->runner.reset();
  }
}

void Tuner::compileAll() {
  std::vector<KernelText> texts;
  for (std::unique_ptr<TrialRun> &run : runs)
    for (const TrialLaunch &launch : run->launches)
      if (!llvm::is_contained(texts, launch.text))
        texts.push_back(launch.text);
  // In parts, so that people see how far it is.
  size_t part = 8 * std::max<size_t>(contexts.size(), 1);
  for (size_t i = 0; i < texts.size() && (i == 0 || !isOver()); i += part) {
    size_t end = std::min(i + part, texts.size());
    progress << llvm::formatv("compiling kernels {0} to {1} of {2}\n", i + 1,
                              end, texts.size());
    store.compile(ArrayRef(texts).slice(i, end - i));
  }
  for (std::unique_ptr<TrialRun> &run : runs)
    if (!run->launches.empty())
      model(*run);
}

Trial::Cost Tuner::compare(const TrialRun &run,
                           std::vector<double> TrialRun::*costs) {
  const TrialRun &usual = getDefault();
  Trial::Cost cost;
  for (auto [launch, own] : llvm::zip_equal(run.launches, run.*costs))
    if (!llvm::is_contained(usual.launches, launch))
      cost.own += own;
  for (auto [launch, other] : llvm::zip_equal(usual.launches, usual.*costs)) {
    cost.all += other;
    if (!llvm::is_contained(run.launches, launch))
      cost.replaced += other;
  }
  // What both launch costs both the same, however often.
  cost.all += cost.own - cost.replaced;
  return cost;
}

void Tuner::model(TrialRun &run) {
  Trial &trial = run.trial;
  run.cycles.clear();
  bool isKnown = true;
  for (const TrialLaunch &launch : run.launches) {
    if (!store.has(launch.text)) {
      trial.note = "the budget was spent";
      return;
    }
    Expected<const KernelInfo *> info = store.get(launch.text);
    if (!info) {
      trial.state = TrialState::Failed;
      trial.note = shorten(info.takeError());
      return;
    }
    KernelInfo named = **info;
    named.name = launch.name;
    std::optional<double> cycles =
        modelLaunch({&named, launch.workItems}, shape, target);
    isKnown &= cycles.has_value();
    run.cycles.push_back(cycles.value_or(0));
  }
  trial.state = TrialState::Modelled;
  if (isKnown && getDefault().cycles.size() == getDefault().launches.size())
    trial.modelled = compare(run, &TrialRun::cycles);
}

Error Tuner::check(TrialRun &run) {
  // Fewer rows take the reference less long. Kernels are chosen by sizes, too:
  // where those that the default does not have are not among them, more rows.
  auto isUsual = [&](const TrialLaunch &launch) {
    return &run != &getDefault() &&
           llvm::is_contained(getDefault().launches, launch);
  };
  auto isIn = [](const TrialLaunch &launch,
                 const std::vector<TrialLaunch> &launches) {
    return llvm::any_of(launches, [&](const TrialLaunch &other) {
      return other.text == launch.text;
    });
  };
  AttentionCase small = problem;
  // Numbers that are put somewhere, and where ragged sequences start, are of
  // all rows.
  if (problem.puts.empty() && !problem.isRagged()) {
    small.batch = std::min<int64_t>(problem.batch, 1);
    small.rows = std::min<int64_t>(problem.rows, 2);
  }
  for (;;) {
    auto launches = list(*run.runner, *context, small);
    if (!launches)
      return launches.takeError();
    bool hasAll = llvm::all_of(run.launches, [&](const TrialLaunch &launch) {
      return isUsual(launch) || isIn(launch, *launches);
    });
    if (hasAll || &run == &getDefault())
      break;
    if (small.rows < problem.rows)
      small.rows = std::min(2 * small.rows, problem.rows);
    else if (small.batch < problem.batch)
      small.batch = std::min(2 * small.batch, problem.batch);
    else
      break;
  }
  return run.runner->run(small).takeError();
}

Error Tuner::measure(TrialRun &run) {
  if (Error error = check(run))
    return error;
  Expected<KernelTimes> times = run.runner->time(problem, options.measure);
  if (!times)
    return times.takeError();
  assert(times->launches.size() == run.launches.size() &&
         "launched other kernels than were planned");
  constexpr double kMicroseconds = 1000;
  run.times.clear();
  for (const KernelTimes::Launch &launch : times->launches)
    run.times.push_back(launch.times.median * kMicroseconds);
  run.trial.measured = compare(run, &TrialRun::times);
  run.trial.state = TrialState::Measured;
  return Error::success();
}

void Tuner::attempt(TrialRun &run) {
  Error error = measure(run);
  if (error) {
    run.trial.state = TrialState::Failed;
    run.trial.note = shorten(std::move(error));
  }
  // Of hundreds of programs only one is on the device.
  run.runner.reset();
  progress << llvm::formatv(
      "{0,6:f0} s  {1} {2}: {3}\n", getSeconds(), run.trial.kernel,
      run.trial.schedule.empty() ? "default" : run.trial.schedule,
      run.trial.measured
          ? llvm::formatv("{0:f1} us", run.trial.measured->all).str()
          : run.trial.note);
}

Error Tuner::measureBest() {
  attempt(getDefault());
  if (getDefault().trial.state == TrialState::Failed)
    return createStringError("with the default schedule: " +
                             getDefault().trial.note);
  for (const std::string &kernel : options.kernels) {
    std::vector<TrialRun *> ranked;
    for (std::unique_ptr<TrialRun> &run : runs)
      if (run->trial.kernel == kernel &&
          run->trial.state == TrialState::Modelled)
        ranked.push_back(run.get());
    llvm::sort(ranked, [](TrialRun *a, TrialRun *b) {
      auto key = [](const Trial &trial) {
        return std::make_pair(trial.modelled ? trial.modelled->all : 0,
                              StringRef(trial.schedule));
      };
      return key(a->trial) < key(b->trial);
    });
    // Of each kind of products: what these cost besides the model knows least.
    std::map<bool, unsigned> measured;
    for (TrialRun *run : ranked) {
      bool isOfGroups =
          StringRef(run->trial.schedule).contains("products=group");
      if (!options.exhaustive && measured[isOfGroups]++ >= options.measured)
        continue;
      if (isOver()) {
        run->trial.note = "the budget was spent";
        continue;
      }
      attempt(*run);
    }
  }
  return Error::success();
}

/// The best schedule of a kernel; null: the default. `isTried`: whether any
/// other has a cost.
const Trial *Tuner::findBest(StringRef kernel, bool &isTried) {
  // Of the time of the kernels that it changes, less than this is noise.
  constexpr double kGain = 0.01;
  double usual = getDefault().trial.getCost(device)->all;
  const Trial *best = nullptr;
  for (std::unique_ptr<TrialRun> &run : runs) {
    const Trial &trial = run->trial;
    if (trial.kernel != kernel)
      continue;
    const std::optional<Trial::Cost> &cost = trial.getCost(device);
    isTried |= cost.has_value();
    if (cost && usual - cost->all > kGain * cost->replaced &&
        (!best || cost->all < best->getCost(device)->all))
      best = &trial;
  }
  return best;
}

/// The best of each kernel, together: programs choose some kernels by what the
/// others are, so the sum of what each gains is not what all gain.
TrialRun &Tuner::addTogether(const std::string &schedules) {
  runs.push_back(std::make_unique<TrialRun>());
  TrialRun &run = *runs.back();
  run.trial.kernel = "all";
  run.trial.schedule = schedules;
  lower(run, *context);
  if (run.launches.empty())
    return run;
  if (isOver()) {
    run.trial.note = "the budget was spent";
    return run;
  }
  std::vector<KernelText> texts;
  for (const TrialLaunch &launch : run.launches)
    texts.push_back(launch.text);
  store.compile(texts);
  model(run);
  if (device && run.trial.state == TrialState::Modelled)
    attempt(run);
  return run;
}

void Tuner::findBest(TuningResult &result) {
  const std::optional<Trial::Cost> &usual = getDefault().trial.getCost(device);
  if (!usual)
    return;
  std::string together;
  size_t changed = 0;
  for (const std::string &kernel : options.kernels) {
    bool isTried = false;
    const Trial *best = findBest(kernel, isTried);
    if (!isTried)
      continue;
    ScheduleEntry entry;
    entry.chip = target.getChip().str();
    entry.kernel = kernel;
    entry.shape = shape;
    entry.isMeasured = device;
    if (best) {
      entry.schedule = best->schedule;
      entry.cost = best->getCost(device)->own;
      entry.defaultCost = best->getCost(device)->replaced;
      together += (changed++ ? ";" : "") + kernel + ":v1:" + best->schedule;
    }
    result.best.push_back(std::move(entry));
  }
  if (changed < 2)
    return;
  const std::optional<Trial::Cost> &all =
      addTogether(together).trial.getCost(device);
  // Else only the one that gains most.
  auto gain = [](const ScheduleEntry &entry) {
    return entry.defaultCost - entry.cost;
  };
  auto most = llvm::max_element(
      result.best, [&](const ScheduleEntry &a, const ScheduleEntry &b) {
        return gain(a) < gain(b);
      });
  if (all && all->all <= usual->all - gain(*most))
    return;
  for (ScheduleEntry &entry : result.best)
    if (&entry != &*most) {
      entry.schedule.clear();
      entry.cost = entry.defaultCost = 0;
    }
}

void Tuner::describeDefault(TuningResult &result) {
  const TrialRun &run = getDefault();
  for (auto [i, launch] : llvm::enumerate(run.launches)) {
    DefaultLaunch &entry = result.launches.emplace_back();
    entry.kernel = launch.name;
    entry.workItems = launch.workItems;
    entry.modelled = i < run.cycles.size() ? run.cycles[i] : 0;
    if (i < run.times.size())
      entry.microseconds = run.times[i];
    Expected<const KernelInfo *> info = store.get(launch.text);
    if (!info) {
      llvm::consumeError(info.takeError());
      continue;
    }
    const llvm::json::Object *report = (*info)->report.getAsObject();
    const llvm::json::Object *pass =
        report ? report->getObject("modelled_pass") : nullptr;
    if (!pass)
      continue;
    entry.cyclesALogit = pass->getNumber("cycles_a_logit");
    entry.unit = pass->getString("unit").value_or("").str();
  }
}

Expected<TuningResult> Tuner::run() {
  if (Error error = findTarget())
    return error;
  if (!device) {
    auto cpu = createCPUDevice(/*numThreads=*/1);
    if (!cpu)
      return cpu.takeError();
    placeholder = std::move(*cpu);
  }
  listTrials();
  lowerAll();
  if (getDefault().trial.state == TrialState::Refused)
    return createStringError(getDefault().trial.note);
  dropKnown();
  compileAll();
  const Trial &usual = getDefault().trial;
  if (usual.state == TrialState::Failed)
    return createStringError("with the default schedule: " + usual.note);
  if (!device && !usual.modelled && runs.size() > 1)
    return createStringError(
        target.getRates()
            ? "without a device there is nothing to rank by: the model counts "
              "logits by their exponentials, and these kernels have none"
            : "without a device there is nothing to rank by: the target '" +
                  target.getChip() + "' has no rates of units");
  if (device)
    if (Error error = measureBest())
      return error;
  TuningResult result;
  findBest(result);
  describeDefault(result);
  for (std::unique_ptr<TrialRun> &run : runs)
    result.trials.push_back(run->trial);
  return result;
}

Expected<TuningResult> mlir::evoformer::tune(const AttentionCase &problem,
                                             Device *device,
                                             const TuneOptions &options,
                                             raw_ostream &progress) {
  return Tuner(problem, device, options, progress).run();
}

void TuningResult::print(raw_ostream &os) const {
  std::vector<const Trial *> sorted;
  for (const Trial &trial : trials)
    sorted.push_back(&trial);
  // As kernels were tried, and of one first what costs least.
  auto rank = [&](const Trial *trial) {
    auto first = llvm::find_if(trials, [&](const Trial &other) {
      return other.kernel == trial->kernel;
    });
    auto cost = [](const std::optional<Trial::Cost> &cost) {
      return cost ? cost->all : std::numeric_limits<double>::max();
    };
    return std::make_tuple(first - trials.begin(), cost(trial->measured),
                           cost(trial->modelled), trial);
  };
  llvm::sort(sorted,
             [&](const Trial *a, const Trial *b) { return rank(a) < rank(b); });
  auto orNone = [](std::optional<double> value, const char *form) {
    return value ? llvm::formatv(form, *value).str() : std::string("-");
  };
  constexpr char kLaunch[] = "{0,-32}{1,12}{2,14}{3,12}{4,12}  {5}\n";
  os << llvm::formatv(kLaunch, "launch", "work items", "cycles", "a logit",
                      "us", "bound by");
  for (const DefaultLaunch &launch : launches) {
    std::optional<double> cycles;
    if (launch.modelled > 0)
      cycles = launch.modelled;
    os << llvm::formatv(kLaunch, launch.kernel, launch.workItems,
                        orNone(cycles, "{0:f1}"),
                        orNone(launch.cyclesALogit, "{0:f4}"),
                        orNone(launch.microseconds, "{0:f1}"),
                        launch.cyclesALogit ? launch.unit : "-");
  }
  os << '\n';
  constexpr char kRow[] = "{0,-16}{1,-56}{2,12}{3,12}  {4}\n";
  os << llvm::formatv(kRow, "kernel", "schedule", "cycles", "us", "");
  for (const Trial *trial : sorted) {
    auto number = [](const std::optional<Trial::Cost> &cost) {
      return cost ? llvm::formatv("{0:f1}", cost->all).str() : std::string("-");
    };
    std::string state = stringifyTrialState(trial->state).str();
    if (!trial->note.empty())
      state += ": " + trial->note;
    os << llvm::formatv(kRow, trial->kernel,
                        trial->schedule.empty() ? "default" : trial->schedule,
                        number(trial->modelled), number(trial->measured),
                        state);
  }
}
