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

std::optional<double> Trial::getCost(bool onDevice) const {
  if (onDevice)
    return measured;
  if (state == TrialState::Modelled && modelled > 0)
    return modelled;
  return std::nullopt;
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
  /// Milliseconds of each launch.
  std::vector<double> times;
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
  void lower(TrialRun &run, std::shared_ptr<MLIRContext> context);
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
  Error combine(TuningResult &result);

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
  std::shared_ptr<MLIRContext> context;
  std::vector<std::shared_ptr<MLIRContext>> contexts;
  tile::TargetAttr target;
  std::vector<std::unique_ptr<TrialRun>> runs;
};
} // namespace

static std::shared_ptr<MLIRContext> makeContext() {
  DialectRegistry registry;
  registerForCompilation(registry);
  return std::make_shared<MLIRContext>(registry,
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

void Tuner::lower(TrialRun &run, std::shared_ptr<MLIRContext> context) {
  CompileOptions compile = options.compile;
  Trial &trial = run.trial;
  if (!trial.schedule.empty())
    compile.schedule = trial.kernel + ":v1:" + trial.schedule;
  run.runner = std::make_unique<CaseRunner>(*context, getDevice(), compile,
                                            options.guardBytes);
  run.runner->memory = memory;
  run.runner->referenceThreads = options.threads;
  // Kernels may be compiled before they are, once for all programs.
  auto launches = list(*run.runner, *context, problem);
  if (!launches) {
    trial.state = TrialState::Refused;
    trial.note = shorten(launches.takeError());
    return;
  }
  run.launches = std::move(*launches);
  run.runner->makeKernels = [this](StringRef tiles,
                                   ArrayRef<std::string> symbols) {
    return makeKernels(tiles, symbols);
  };
}

void Tuner::lowerAll() {
  progress << llvm::formatv("{0} schedules of {1} for {2}\n", runs.size() - 1,
                            llvm::join(options.kernels, ", "),
                            options.compile.target);
  llvm::ThreadPoolStrategy strategy =
      llvm::hardware_concurrency(options.threads);
  std::atomic<size_t> next{0};
  llvm::DefaultThreadPool pool(strategy);
  for (unsigned i = 0; i < strategy.compute_thread_count(); ++i)
    contexts.push_back(makeContext());
  for (std::shared_ptr<MLIRContext> &own : contexts)
    pool.async([&] {
      for (size_t i; (i = next.fetch_add(1)) < runs.size();)
        if (i == 0 || !isOver())
          lower(*runs[i], own);
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

void Tuner::model(TrialRun &run) {
  Trial &trial = run.trial;
  for (const TrialLaunch &launch : run.launches) {
    if (!store.has(launch.text)) {
      trial.note = "the budget was spent";
      trial.modelled = 0;
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
    trial.modelled += modelLaunch({&named, launch.workItems}, shape, target);
  }
  trial.state = TrialState::Modelled;
}

Error Tuner::check(TrialRun &run) {
  // Fewer rows take the reference less long. Kernels are chosen by sizes, too:
  // where others would run, more rows.
  auto isOf = [&](const std::vector<TrialLaunch> &launches) {
    return llvm::all_of(run.launches, [&](const TrialLaunch &launch) {
      return llvm::any_of(launches, [&](const TrialLaunch &other) {
        return other.text == launch.text;
      });
    });
  };
  AttentionCase small = problem;
  small.batch = 1;
  small.rows = std::min<int64_t>(problem.rows, 2);
  constexpr int64_t kMostLogits = int64_t(1) << 26;
  for (;;) {
    auto launches = list(*run.runner, *context, small);
    if (!launches)
      return launches.takeError();
    if (isOf(*launches))
      break;
    if (small.rows < problem.rows)
      small.rows = std::min(2 * small.rows, problem.rows);
    else if (small.batch < problem.batch)
      small.batch = std::min(2 * small.batch, problem.batch);
    else
      return createStringError("launches other kernels each time");
    if (small.batch * small.rows * small.heads * small.queries * small.keys >
        kMostLogits)
      return createStringError("takes too long to check");
  }
  return run.runner->run(small).takeError();
}

Error Tuner::measure(TrialRun &run) {
  if (Error error = check(run))
    return error;
  Expected<KernelTimes> times = run.runner->time(problem, options.measure);
  if (!times)
    return times.takeError();
  if (times->launches.size() != run.launches.size())
    return createStringError("launched other kernels than were planned");
  double sum = 0;
  TrialRun &usual = getDefault();
  for (auto [launch, timed] : llvm::zip_equal(run.launches, times->launches)) {
    double time = timed.times.median;
    auto same = llvm::find(usual.launches, launch);
    if (&run != &usual && same != usual.launches.end())
      time = usual.times[same - usual.launches.begin()];
    run.times.push_back(time);
    sum += time;
  }
  run.trial.measured = sum;
  run.trial.state = TrialState::Measured;
  return Error::success();
}

Error Tuner::measureBest() {
  auto attempt = [&](TrialRun &run) {
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
            ? llvm::formatv("{0:f1} us", *run.trial.measured * 1000).str()
            : run.trial.note);
  };
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
      return std::tie(a->trial.modelled, a->trial.schedule) <
             std::tie(b->trial.modelled, b->trial.schedule);
    });
    for (auto [i, run] : llvm::enumerate(ranked)) {
      if (!options.exhaustive && i >= options.measured)
        break;
      if (isOver()) {
        run->trial.note = "the budget was spent";
        continue;
      }
      attempt(*run);
    }
  }
  return Error::success();
}

/// The best of each kernel, together: programs choose some kernels by what the
/// others are, so the sum of what each gains is not what all gain.
Error Tuner::combine(TuningResult &result) {
  bool onDevice = device;
  std::optional<double> usual = getDefault().trial.getCost(onDevice);
  if (!usual)
    return Error::success();
  // Less than this is noise.
  constexpr double kGain = 0.01;
  std::string together;
  for (const std::string &kernel : options.kernels) {
    const Trial *best = nullptr;
    bool isLaunched = false;
    for (std::unique_ptr<TrialRun> &run : runs) {
      if (run->trial.kernel != kernel)
        continue;
      isLaunched |= run->trial.state == TrialState::Modelled ||
                    run->trial.state == TrialState::Measured;
      std::optional<double> cost = run->trial.getCost(onDevice);
      if (cost && *cost < *usual * (1 - kGain) &&
          (!best || *cost < *best->getCost(onDevice)))
        best = &run->trial;
    }
    if (!isLaunched)
      continue;
    ScheduleEntry entry;
    entry.chip = options.compile.target;
    entry.kernel = kernel;
    entry.shape = shape;
    entry.schedule = best ? best->schedule : "";
    entry.isMeasured = onDevice;
    entry.cost = best ? *best->getCost(onDevice) : *usual;
    entry.defaultCost = *usual;
    if (best)
      together +=
          (together.empty() ? "" : ";") + kernel + ":v1:" + best->schedule;
    result.best.push_back(std::move(entry));
  }
  if (llvm::count_if(result.best, [](const ScheduleEntry &entry) {
        return !entry.schedule.empty();
      }) < 2)
    return Error::success();
  runs.push_back(std::make_unique<TrialRun>());
  TrialRun &all = *runs.back();
  all.trial.kernel = "all";
  CompileOptions compile = options.compile;
  compile.schedule = together;
  all.trial.schedule = "the best of each";
  all.runner = std::make_unique<CaseRunner>(*context, getDevice(), compile,
                                            options.guardBytes);
  all.runner->memory = memory;
  all.runner->referenceThreads = options.threads;
  auto launches = list(*all.runner, *context, problem);
  std::optional<double> cost;
  if (launches) {
    all.launches = std::move(*launches);
    all.runner->makeKernels = [this](StringRef tiles,
                                     ArrayRef<std::string> symbols) {
      return makeKernels(tiles, symbols);
    };
    std::vector<KernelText> texts;
    for (const TrialLaunch &launch : all.launches)
      texts.push_back(launch.text);
    store.compile(texts);
    model(all);
    if (onDevice && all.trial.state == TrialState::Modelled)
      if (Error error = measure(all)) {
        all.trial.state = TrialState::Failed;
        all.trial.note = shorten(std::move(error));
      }
    cost = all.trial.getCost(onDevice);
  } else {
    all.trial.state = TrialState::Refused;
    all.trial.note = shorten(launches.takeError());
  }
  // Else only the one that gains most.
  auto least = llvm::min_element(
      result.best, [](const ScheduleEntry &a, const ScheduleEntry &b) {
        return a.cost < b.cost;
      });
  if (!cost || *cost > least->cost)
    for (ScheduleEntry &entry : result.best)
      if (&entry != &*least) {
        entry.schedule.clear();
        entry.cost = *usual;
      }
  all.runner.reset();
  return Error::success();
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
  if (device)
    if (Error error = measureBest())
      return error;
  TuningResult result;
  result.shape = shape;
  result.onDevice = device;
  if (Error error = combine(result))
    return error;
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
  os << llvm::formatv("{0,-16}{1,-58}{2,12}{3,12}  {4}\n", "kernel", "schedule",
                      "modelled", "measured", "");
  os << llvm::formatv("{0,-16}{1,-58}{2,12}{3,12}\n", "", "", "cycles", "us");
  std::vector<const Trial *> sorted;
  for (const Trial &trial : trials)
    sorted.push_back(&trial);
  llvm::sort(sorted, [&](const Trial *a, const Trial *b) {
    // As kernels were tried, and of one first what has a cost.
    auto rank = [&](const Trial *trial) {
      auto first = llvm::find_if(trials, [&](const Trial &other) {
        return other.kernel == trial->kernel;
      });
      double unknown = std::numeric_limits<double>::max();
      double none = unknown;
      return std::make_tuple(
          first - trials.begin(), trial->measured.value_or(unknown),
          trial->modelled > 0 ? trial->modelled : none, trial);
    };
    return rank(a) < rank(b);
  });
  for (const Trial *trial : sorted) {
    auto number = [](std::optional<double> value, double factor) {
      return value ? llvm::formatv("{0:f1}", *value * factor).str()
                   : std::string("-");
    };
    os << llvm::formatv(
        "{0,-16}{1,-58}{2,12}{3,12}  {4}{5}{6}\n", trial->kernel,
        trial->schedule.empty() ? "default" : trial->schedule,
        number(trial->modelled > 0 ? std::optional<double>(trial->modelled)
                                   : std::nullopt,
               1),
        number(trial->measured, 1000), stringifyTrialState(trial->state),
        trial->note.empty() ? "" : ": ", trial->note);
  }
}
